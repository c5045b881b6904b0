import type { IncomingHttpHeaders } from 'node:http';
import type { Progress } from '../answers/answer-body.ts';
import type { RelayChannel } from '../channels/relay-channels.ts';

/** An upstream's error answer, before a client sees it. */
export interface ErrorAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** The result of one attempt. */
export type AttemptResult =
  /** Nothing was sent. */
  | { readonly kind: 'unreachable'; readonly error: Error }
  | { readonly kind: 'error'; readonly answer: ErrorAnswer }
  /** It was sent, no part of an answer was shown, and no answer will come. */
  | { readonly kind: 'unknown'; readonly why: 'upstream_failed' | 'upstream_timeout'; readonly error: Error }
  /**
   * Overrun: the gateway broke the answer off at its time limit; the channel need not be at fault. An upstream that
   * reports a fault within its answer gives it a status.
   */
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly how: 'whole' | 'broken';
      readonly progress: Progress;
      readonly isOverrun?: boolean;
      readonly faultStatus?: number;
    }
  | { readonly kind: 'gone'; readonly wasSent: boolean; readonly progress: Progress | undefined };

/** The attempt that decided a call. */
export interface CallOutcome {
  readonly result: AttemptResult;
  readonly channel: RelayChannel;
}

/** Reports whether another channel may succeed. */
export function blamesItsChannel(result: AttemptResult): boolean {
  return result.kind === 'unreachable' || (result.kind === 'error' && blamesChannel(result.answer.status));
}

/** Reports whether the channel failed. */
export function isFault(result: AttemptResult): boolean {
  return (
    blamesItsChannel(result) ||
    result.kind === 'unknown' ||
    (result.kind === 'answered' &&
      result.how === 'broken' &&
      result.isOverrun !== true &&
      blamesChannel(result.faultStatus ?? BROKEN_STATUS))
  );
}

/** Returns the status of the answer, or a word if there is none. */
export function toResultLabel(result: AttemptResult): string {
  if (result.kind === 'error') return String(result.answer.status);
  if (result.kind === 'answered') return result.how === 'whole' ? String(result.status) : 'broken';
  return result.kind === 'unknown' ? result.why : result.kind;
}

/** Statuses that blame the channel, not the request: another channel may succeed. */
const CHANNEL_FAULTS: ReadonlySet<number> = new Set([401, 402, 403, 404, 408, 429]);
/** The status of an answer that broke off without a reason. */
const BROKEN_STATUS = 502;
/** Of these, the statuses that concern the gateway's credential; a client does not see them. */
const OURS: ReadonlySet<number> = new Set([401, 402, 403]);
/** Statuses that do not tell whether the channel works. */
const INCONCLUSIVE: ReadonlySet<number> = new Set([404, 408, 429, 501]);

/** Reports whether an error is the channel's fault. */
export function blamesChannel(status: number): boolean {
  return status < 400 || status >= 500 || CHANNEL_FAULTS.has(status);
}

/** Reports whether a client may see the error if no other channel succeeds. */
export function isForClients(status: number): boolean {
  return status >= 400 && !OURS.has(status);
}

export function isInconclusive(status: number): boolean {
  return INCONCLUSIVE.has(status);
}
