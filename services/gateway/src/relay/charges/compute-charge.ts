import type { Charge } from './call-charges.ts';
import type { AttemptEnd } from '../attempts/forward-call.ts';
import type { RelayCall } from '../requests/relay-call.ts';
import type { Progress } from '../answers/answer-body.ts';

/** The assumed length of a token, if the upstream reports no usage. */
const BYTES_A_TOKEN = 4;
const NOTHING_YET: Progress = { begun: false, usage: undefined, textBytes: 0 };
const RELEASED: Charge = { basis: 'released' };
const HOLD: Charge = { basis: 'hold' };

/**
 * Computes the charge of a call. It is nothing without an answer, and an estimate of the sent part if the answer is
 * incomplete.
 */
export function computeCharge(call: RelayCall, end: AttemptEnd): Charge {
  if (end.kind === 'answered')
    return end.how === 'whole' ? computeWholeCharge(call, end.progress) : computePartCharge(call, end.progress);
  return end.kind === 'gone' && end.wasSent ? computePartCharge(call, end.progress) : RELEASED;
}

function computeWholeCharge({ endpoint: { protocol }, content }: RelayCall, { usage }: Progress): Charge {
  const known = usage ?? protocol.usageOfWhole?.(content);
  return known === undefined ? HOLD : { basis: 'usage', usage: known };
}

function computePartCharge({ endpoint: { protocol }, content }: RelayCall, progress: Progress | undefined): Charge {
  const bound = protocol.priceFacts(content);
  if (bound.inputTokens === undefined) {
    const whole = protocol.usageOfWhole?.(content);
    return whole === undefined ? HOLD : { basis: 'estimate', usage: whole };
  }
  const { usage: seen, textBytes } = progress ?? NOTHING_YET;
  // escapes make a text longer than its tokens, so the limit of the request bounds the estimate
  const written = Math.min(Math.ceil(textBytes / BYTES_A_TOKEN), bound.outputTokens ?? Infinity);
  const inputTokens = seen?.inputTokens ?? Math.ceil(bound.inputTokens / BYTES_A_TOKEN);
  return {
    basis: 'estimate',
    usage: { ...seen, inputTokens, outputTokens: Math.max(written, seen?.outputTokens ?? 0) },
  };
}
