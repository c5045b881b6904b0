import type { Charge } from './call-charges.ts';
import type { AttemptEnd } from '../attempts/forward-call.ts';
import type { RelayCall } from '../requests/relay-call.ts';
import type { Progress } from '../answers/answer-body.ts';

/** What a token is taken to be long, where nobody counts them. */
const BYTES_A_TOKEN = 4;
const NOTHING_YET: Progress = { begun: false, usage: undefined, textBytes: 0 };
const RELEASED: Charge = { basis: 'released' };
const HOLD: Charge = { basis: 'hold' };

/** What a call is charged by, by how it ended: whoever got no answer pays nothing, and whoever left pays for what there was. */
export function chargeFor(call: RelayCall, end: AttemptEnd): Charge {
  if (end.kind === 'answered')
    return end.how === 'whole' ? chargeForWhole(call, end.progress) : chargeForPart(call, end.progress);
  return end.kind === 'gone' && end.wasSent ? chargeForPart(call, end.progress) : RELEASED;
}

function chargeForWhole({ endpoint: { protocol }, content }: RelayCall, { usage }: Progress): Charge {
  const known = usage ?? protocol.usageOfWhole?.(content);
  return known === undefined ? HOLD : { basis: 'usage', usage: known };
}

function chargeForPart({ endpoint: { protocol }, content }: RelayCall, progress: Progress | undefined): Charge {
  const bound = protocol.priceFacts(content);
  if (bound.inputTokens === undefined) {
    const whole = protocol.usageOfWhole?.(content);
    return whole === undefined ? HOLD : { basis: 'estimate', usage: whole };
  }
  const { usage: seen, textBytes } = progress ?? NOTHING_YET;
  // a text in long escapes could be taken for more than was asked for
  const written = Math.min(Math.ceil(textBytes / BYTES_A_TOKEN), bound.outputTokens ?? Infinity);
  const inputTokens = seen?.inputTokens ?? Math.ceil(bound.inputTokens / BYTES_A_TOKEN);
  return {
    basis: 'estimate',
    usage: { ...seen, inputTokens, outputTokens: Math.max(written, seen?.outputTokens ?? 0) },
  };
}
