/** What a stream uses and this decoder has not, or data that no encoder writes. */
export class NotDecoded extends Error {}

export function refuse(what: string): never {
  throw new NotDecoded(what);
}

/** The value, when it lies within the limits. */
export function within(value: number, min: number, max: number): number {
  return value >= min && value <= max ? value : refuse(`${value} is outside ${min} to ${max}`);
}
