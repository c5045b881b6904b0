import type { IncomingHttpHeaders } from 'node:http';
import type { AnswerEnding } from '../answers/answer-body.ts';
import type { Fault } from '../protocols/faults.ts';
import type { RelayCall } from '../requests/relay-call.ts';
import type { AttemptResult } from './attempt-result.ts';
import { judgeError } from './judge-error.ts';

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
