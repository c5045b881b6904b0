import { expect, test } from '@jest/globals';
import type { CallCharge } from '../../domain/call-order.ts';
import type { Usage } from '../../domain/call-usage.ts';
import type { Progress } from '../answers/answer-body.ts';
import type { AttemptResult, CallOutcome } from '../attempts/attempt-result.ts';
import type { RelayCall } from '../requests/relay-call.ts';
import { chooseCharge } from './call-money.ts';

const USAGE: Usage = { inputTokens: 7, outputTokens: 3 };
/** The estimate for a request of 400 bytes whose answer is cut off after 40 bytes. */
const ESTIMATE: Usage = { inputTokens: 100, outputTokens: 10 };
const JOB = { callId: 'call_1', lapsesAt: 0 };

/** A call for a text of at most 50 tokens. */
const CALL = {
  endpoint: { protocol: { priceFacts: () => ({ inputTokens: 400, outputTokens: 50 }) } },
  content: {},
} as unknown as RelayCall;

const progressOf = (changes: Partial<Progress>): Progress => ({
  ...{ begun: true, delivered: true, usage: undefined, textBytes: 40, announcedBytes: undefined },
  ...changes,
});
const answered = (how: 'whole' | 'broken', changes: Partial<Progress>): AttemptResult => ({
  ...{ kind: 'answered', status: 200, how },
  progress: progressOf(changes),
});
const gone = (wasSent: boolean): AttemptResult => ({ kind: 'gone', wasSent, progress: progressOf({}) });
const toOutcome = (result: AttemptResult): CallOutcome => ({ result, channel: {} as CallOutcome['channel'] });

test.each<[string, AttemptResult, CallCharge]>([
  ['a whole answer costs its usage', answered('whole', { usage: USAGE }), { basis: 'usage', usage: USAGE }],
  ['a whole answer without a usage costs its hold', answered('whole', {}), { basis: 'hold' }],
  [
    'a whole answer without a result or a usage is free',
    answered('whole', { delivered: false }),
    { basis: 'released' },
  ],
  [
    'a whole answer without a result, whose usage is zero, is free',
    answered('whole', { delivered: false, usage: { inputTokens: 0, outputTokens: 0 } }),
    { basis: 'released' },
  ],
  [
    'a whole answer without a result costs the usage that its upstream reports',
    answered('whole', { delivered: false, usage: USAGE }),
    { basis: 'usage', usage: USAGE },
  ],
  [
    'of a total alone, the output that came is taken',
    answered('whole', { usage: { inputTokens: 30 } }),
    { basis: 'estimate', usage: { inputTokens: 20, outputTokens: 10 } },
  ],
  [
    'an answer that breaks off costs an estimate of what came',
    answered('broken', {}),
    { basis: 'estimate', usage: ESTIMATE },
  ],
  [
    'an estimate of the output is at most what the request allows',
    answered('broken', { textBytes: 4000 }),
    { basis: 'estimate', usage: { inputTokens: 100, outputTokens: 50 } },
  ],
  [
    'an answer that breaks off before a result is free',
    answered('broken', { delivered: false }),
    { basis: 'released' },
  ],
  ['a call that its client leaves costs an estimate', gone(true), { basis: 'estimate', usage: ESTIMATE }],
  ['a call that its client leaves before it is sent is free', gone(false), { basis: 'released' }],
  [
    'a call whose upstream could not be reached is free',
    { kind: 'unreachable', error: new Error('refused') },
    { basis: 'released' },
  ],
])('%s', (_which, result, charge) => {
  expect(chooseCharge({ call: CALL, channels: [], job: undefined }, toOutcome(result))).toEqual(charge);
});

test.each<[string, AttemptResult | undefined, CallCharge]>([
  ['costs the usage of a whole answer', answered('whole', { usage: USAGE }), { basis: 'usage', usage: USAGE }],
  ['costs nothing for a part of an answer', answered('broken', { usage: USAGE }), { basis: 'released' }],
  ['costs nothing without an outcome', undefined, { basis: 'released' }],
])('a call of a job %s', (_what, result, charge) => {
  const outcome = result && toOutcome(result);

  expect(chooseCharge({ call: CALL, channels: [], job: JOB }, outcome)).toEqual(charge);
});
