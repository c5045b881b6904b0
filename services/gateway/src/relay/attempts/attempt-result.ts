import type { IncomingHttpHeaders } from 'node:http';
import type { Progress } from '../answers/answer-body.ts';
import type { RelayChannel } from '../channels/relay-channels.ts';
import { judgeStatus, refusesCall } from './judge-error.ts';
import type { ErrorVerdict } from './judge-error.ts';

/** An upstream's error answer, before a client sees it. */
export interface ErrorAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly verdict: ErrorVerdict;
}

/** The result of one attempt. */
export type AttemptResult =
  /** Nothing was sent. */
  | { readonly kind: 'unreachable'; readonly error: Error }
  | { readonly kind: 'error'; readonly answer: ErrorAnswer }
  /** It was sent, no part of an answer was shown, and no answer will come. */
  | { readonly kind: 'unknown'; readonly why: 'upstream_failed' | 'upstream_timeout'; readonly error: Error }
  /**
   * With `overrun` the gateway broke the answer off at its time limit. The channel need not be at fault. An upstream
   * that reports a fault within its answer gives it a status.
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
  return result.kind === 'unreachable' || (result.kind === 'error' && result.answer.verdict.triesNext);
}

/** Reports whether the channel failed. */
export function isFault(result: AttemptResult): boolean {
  return (
    blamesItsChannel(result) ||
    result.kind === 'unknown' ||
    (result.kind === 'answered' &&
      result.how === 'broken' &&
      result.isOverrun !== true &&
      judgeStatus(result.faultStatus ?? BROKEN_STATUS).triesNext)
  );
}

/** Returns the status of the answer, or a word without an answer. */
export function toResultLabel(result: AttemptResult): string {
  if (result.kind === 'error') return String(result.answer.status);
  if (result.kind === 'answered') return result.how === 'whole' ? String(result.status) : 'broken';
  return result.kind === 'unknown' ? result.why : result.kind;
}

/** The status of an answer that broke off without a reason. */
const BROKEN_STATUS = 502;
/** Codes of requests that could not be built. They are no evidence about the server. */
const UNBUILT: ReadonlySet<string> = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED']);

/** Informs the circuit of a channel about the outcome of an attempt for an account. */
export function informCircuit(
  { circuit }: Pick<RelayChannel, 'circuit'>,
  result: AttemptResult,
  accountId: string,
): void {
  if (result.kind === 'answered' && result.how === 'whole') circuit.worked();
  else if (!speaksAgainst(result))
    circuit[result.kind === 'error' && refusesCall(result.answer.verdict) ? 'refused' : 'undecided'](accountId);
  // no input keeps a connection from opening
  else if (result.kind === 'unreachable' && !UNBUILT.has(readErrorCode(result.error))) circuit.failed();
  else circuit.failed(accountId);
}

/** Reports whether the end of an attempt is a fault of its channel: not every reason to try another one is. */
function speaksAgainst(result: AttemptResult): boolean {
  if (result.kind === 'error') return result.answer.verdict.isFault;
  const { isFault: isOne } = judgeStatus(
    result.kind === 'answered' ? (result.faultStatus ?? BROKEN_STATUS) : BROKEN_STATUS,
  );
  return isOne && isFault(result);
}

export function readErrorCode(error: Error): string {
  return (error as { readonly code?: string }).code ?? '';
}
