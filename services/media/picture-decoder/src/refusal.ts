/**
 * The reason why a key frame is not decoded:
 * - `unsupported` if the stream is valid and uses a feature that this decoder lacks
 * - `too_large` if the stream exceeds a limit of this decoder
 * - `corrupt` if no encoder writes such a stream
 */
export type RefusalReason = 'unsupported' | 'too_large' | 'corrupt';

/** The only error that the decoder throws inside itself. `decodeKeyFrame` turns it into a result. */
export class Refusal extends Error {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, detail: string) {
    super(detail);
    this.reason = reason;
  }
}

export function refuse(reason: RefusalReason, detail: string): never {
  throw new Refusal(reason, detail);
}

/** Returns the value if it is within the limits of the syntax. Otherwise it refuses the stream as corrupt. */
export function within(value: number, min: number, max: number): number {
  return value >= min && value <= max ? value : refuse('corrupt', `${value} is outside ${min} to ${max}`);
}
