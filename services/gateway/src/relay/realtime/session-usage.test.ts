import { expect, test } from '@jest/globals';
import { newSessionUsage } from './session-usage.ts';
import type { CallCharge } from '../../domain/call-order.ts';

const created = (id: string): object => ({ type: 'response.created', response: { id, status: 'in_progress' } });
const done = (id: string, usage: object | null, status = 'completed'): object => ({
  type: 'response.done',
  response: { id, status, usage },
});
const used = (input: number, output: number, cached = 0): object => ({
  input_tokens: input,
  output_tokens: output,
  input_token_details: { cached_tokens: cached },
});
const text = (id: string, delta: string): object => ({ type: 'response.output_text.delta', response_id: id, delta });
const sound = (id: string, characters: number): object => ({
  type: 'response.output_audio.delta',
  response_id: id,
  delta: 'A'.repeat(characters),
});
const transcribed = (reported: object | undefined): object => ({
  type: 'conversation.item.input_audio_transcription.completed',
  item_id: 'i',
  content_index: 0,
  transcript: 'hello',
  usage: reported,
});
const usage = (inputTokens: number, outputTokens: number, cachedInputTokens = 0) => ({
  inputTokens,
  cachedInputTokens,
  outputTokens,
});

const chargeAfter = (events: readonly object[], endedByUpstream = false): CallCharge => {
  const session = newSessionUsage();
  for (const event of events) session.see(Buffer.from(JSON.stringify(event)));
  return session.charge(endedByUpstream);
};

test.each<[string, readonly object[], CallCharge]>([
  [
    'a session without a response costs nothing',
    [{ type: 'session.created' }, { type: 'conversation.item.added' }],
    { basis: 'released' },
  ],
  [
    'the usage of a response is charged',
    [created('a'), text('a', 'hello'), done('a', used(11, 7, 4))],
    { basis: 'usage', usage: usage(11, 7, 4) },
  ],
  [
    'responses add up',
    [created('a'), done('a', used(11, 7)), created('b'), done('b', used(30, 5, 20))],
    { basis: 'usage', usage: usage(41, 12, 20) },
  ],
  [
    'a cancelled response is charged by the usage that it reports',
    [created('a'), done('a', used(11, 2), 'cancelled')],
    { basis: 'usage', usage: usage(11, 2) },
  ],
  [
    'a transcription by tokens is charged beside the response, with its sound',
    [
      transcribed({
        type: 'tokens',
        total_tokens: 48,
        input_tokens: 36,
        input_token_details: { text_tokens: 0, audio_tokens: 36 },
        output_tokens: 12,
      }),
      created('a'),
      done('a', used(11, 7, 4)),
    ],
    { basis: 'usage', usage: { ...usage(47, 19, 4), audioInputTokens: 36 } },
  ],
  [
    'transcriptions by their duration add up, also in a session without a response',
    [transcribed({ type: 'duration', seconds: 2.4 }), transcribed({ type: 'duration', seconds: 5 })],
    { basis: 'usage', usage: { ...usage(0, 0), seconds: 8 } },
  ],
  [
    'a transcription without usage, and one that failed, cost nothing',
    [
      transcribed(undefined),
      { type: 'conversation.item.input_audio_transcription.failed', item_id: 'i', error: { message: 'no' } },
      { type: 'conversation.item.input_audio_transcription.delta', item_id: 'i', delta: 'hello' },
    ],
    { basis: 'released' },
  ],
  [
    'a response whose end comes twice is charged once',
    [created('a'), text('a', 'hello'), done('a', used(11, 7)), done('a', used(11, 7)), done('a', used(0, 0))],
    { basis: 'usage', usage: usage(11, 7) },
  ],
  [
    'a response without an id is charged each time',
    [done('', used(11, 7)), done('', used(11, 7))],
    { basis: 'usage', usage: usage(22, 14) },
  ],
  [
    'a response whose usage comes with its second end is charged by it',
    [created('a'), done('a', null), done('a', used(11, 7))],
    { basis: 'usage', usage: usage(11, 7) },
  ],
  [
    'a completed response of which nothing has come, with a usage of nothing, costs nothing',
    [created('a'), done('a', used(0, 0))],
    { basis: 'released' },
  ],
  [
    'a completed response with a usage of nothing of which something has come costs the hold',
    [created('a'), text('a', 'hello'), done('a', used(0, 0))],
    { basis: 'hold' },
  ],
  [
    'a response without usage beside one with usage is estimated by what has come',
    [created('a'), done('a', used(11, 7)), created('b'), text('b', 'x'.repeat(40)), done('b', null)],
    { basis: 'estimate', usage: usage(11, 17) },
  ],
  ['a response without usage costs the hold', [created('a'), done('a', null)], { basis: 'hold' }],
  [
    'a failed response without usage costs nothing more',
    [created('a'), done('a', used(11, 7)), created('b'), done('b', null, 'failed')],
    { basis: 'usage', usage: usage(11, 7) },
  ],
  [
    'a failed response of which nothing has come costs nothing, whatever usage it reports',
    [created('a'), done('a', used(11, 7), 'failed')],
    { basis: 'released' },
  ],
  [
    'a failed response of which a part has come costs the usage that it reports',
    [created('a'), text('a', 'x'.repeat(40)), done('a', used(11, 12), 'failed')],
    { basis: 'usage', usage: usage(11, 12) },
  ],
  [
    'a failed response without usage of which a part has come is estimated',
    [created('a'), done('a', used(11, 7)), created('b'), text('b', 'x'.repeat(40)), done('b', null, 'failed')],
    { basis: 'estimate', usage: usage(11, 17) },
  ],
  [
    'the text of an unfinished response is estimated',
    [created('a'), done('a', used(11, 7)), created('b'), text('b', 'x'.repeat(40))],
    { basis: 'estimate', usage: usage(11, 17) },
  ],
  [
    'the sound of an unfinished response is estimated by its length',
    [created('a'), sound('a', 6400), sound('a', 6400)],
    { basis: 'estimate', usage: usage(0, 4) },
  ],
  ['an unfinished response without output costs the hold if it is the only one', [created('a')], { basis: 'hold' }],
  ['an event of another type is not read', [{ type: 'echo', text: 'response.done' }], { basis: 'released' }],
])('%s', (_name, events, expected) => {
  expect(chargeAfter(events)).toEqual(expected);
});

test('an upstream that ends the session before anything has come is not paid for its unfinished response', () => {
  expect(chargeAfter([created('a')], true)).toEqual({ basis: 'released' });
  expect(chargeAfter([created('a'), done('a', used(11, 7)), created('b')], true)).toEqual({
    basis: 'usage',
    usage: usage(11, 7),
  });
});

test('a message that is not JSON, or longer than any event with usage, is skipped', () => {
  const session = newSessionUsage();
  session.see(Buffer.from('"response. {'));
  session.see(Buffer.from(JSON.stringify(done('a', used(1, 1))).padEnd(300 * 1024, ' ')));

  expect(session.charge()).toEqual({ basis: 'released' });
});
