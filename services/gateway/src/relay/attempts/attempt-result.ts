import type { IncomingHttpHeaders } from 'node:http';
import type { Progress, AnswerEnding } from '../answers/answer-body.ts';
import type { RelayChannel } from '../channels/relay-channels.ts';
import { judgeStatus, refusesCall, judgeError } from './judge-error.ts';
import type { ErrorVerdict } from './judge-error.ts';
import type { Fault } from '../protocols/faults.ts';
import type { RelayCall } from '../requests/relay-call.ts';
import type { Problem } from '@reelgate/platform/problem';
import { scrubText } from '../answers/scrub-error.ts';
import type { Identities } from '../answers/scrub-error.ts';
import { refuse } from '../../refusals.ts';

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

const NOTHING_CAME = 'the upstream answered without a result';

/**
 * Turns an error that came with a good status into the error answer that it should have been. Nothing was delivered or
 * charged, so clients may repeat the call unless the fault is their own.
 */
export function toFailedResult(
  { endpoint: { protocol } }: RelayCall,
  headers: IncomingHttpHeaders,
  { status, error }: Fault,
): AttemptResult {
  const fault = { status, code: 'upstream_failed', message: NOTHING_CAME };
  const envelope = JSON.parse(protocol.faultBody(fault)) as { readonly error: object };
  const body = Buffer.from(JSON.stringify(error === undefined ? envelope : { ...envelope, error }));
  const verdict = judgeError(status, body);
  return {
    kind: 'error',
    answer: {
      status,
      headers: { ...headers, 'x-should-retry': String(verdict.triesNext) },
      body,
      verdict,
    },
  };
}

/** Reads the end of an answer for the result of its attempt. */
export function readEnding(ending: Exclude<AnswerEnding, { readonly how: 'failed' }>): {
  readonly how: 'whole' | 'broken';
  readonly faultStatus?: number;
} {
  return ending.how === 'whole' ? { how: 'whole' } : { how: 'broken', faultStatus: ending.fault.status };
}

/** The upstream's words that a refusal of content quotes. */
const QUOTED_MAX = 500;
/** The statuses that no client takes for a fault of its token and that no SDK repeats. */
const KEPT: ReadonlySet<number> = new Set([400, 413, 415, 422, 451]);

/**
 * Returns the refusal that replaces an upstream's error if a client would misread that error: a refusal of content with
 * the status of a credential or of a fault, a refusal of the size with the status of a limit, and a redirect. Returns
 * undefined if the error itself is shown.
 */
export function refuseVerdict(
  { status, verdict }: Pick<ErrorAnswer, 'status' | 'verdict'>,
  identities: Identities,
): Problem | undefined {
  if (verdict.class === 'redirect')
    return refuse('upstream_refused', {
      message: `the upstream redirects this request (status ${status}), and no redirect is followed`,
    });
  if (verdict.refusal === undefined || KEPT.has(status)) return undefined;
  const { message = '', reasons } = verdict.refusal;
  const words = scrubText(message, identities).slice(0, QUOTED_MAX);
  const named = reasons.length === 0 ? '' : ` (${scrubText(reasons.join(', '), identities)})`;
  if (verdict.class === 'request')
    return refuse('upstream_refused', { message: `the upstream refused the size of this request: ${words}` });
  return refuse('content_rejected', {
    message: `the upstream refused the content of this request${named}${words === '' ? '' : `: ${words}`}`,
  });
}
