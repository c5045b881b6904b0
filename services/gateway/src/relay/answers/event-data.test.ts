import { expect, test } from '@jest/globals';
import { parseEvent, scrubFrame } from './event-data.ts';

const IDENTITIES = { publicModel: 'public', upstreamModel: 'secret-model', hidden: ['secret-host'] };
const frame = (data: object, more = ''): Buffer => Buffer.from(`${more}data: ${JSON.stringify(data)}\n\n`);

test.each([
  [
    'an error object',
    { error: { message: 'no secret-model at secret-host', code: 'x' } },
    { error: { message: 'no public at ***', code: 'x' } },
  ],
  [
    'an error that is a string',
    { error: 'no secret-model at secret-host', code: 7 },
    { error: 'no public at ***', code: 7 },
  ],
  [
    'an event of type error',
    { type: 'error', message: 'secret-model', request_id: 'req_abcdefgh' },
    { type: 'error', message: 'public' },
  ],
  [
    'a response that failed',
    { type: 'response.failed', response: { id: 'resp_1', error: { message: 'org-abcdefgh1' } } },
    { type: 'response.failed', response: { id: 'resp_1', error: { message: '***' } } },
  ],
])('%s is passed on without identities', (_name, told, expected) => {
  for (const more of ['', 'event: x\n', ': a comment\r\n', 'id: data:7\n']) {
    const shown = scrubFrame(frame(told, more), IDENTITIES);

    expect(parseEvent(shown)).toEqual(expected);
    expect(shown.toString()).toMatch(new RegExp(`^${more}data:.*\n\n$`));
  }
});

test.each([
  [
    'with several data lines',
    `event: error\ndata: {"error":\ndata:  {"message":"secret-model"}}\nid: 7\n\n`,
    `event: error\ndata:{"error":{"message":"public"}}\nid: 7\n\n`,
  ],
  ['without a data line', '{"error":{"message":"secret-host"}}\n\n', '{"error":{"message":"***"}}\n\n'],
])('a fault %s is passed on without identities', (_name, frameText, expected) => {
  expect(scrubFrame(Buffer.from(frameText), IDENTITIES).toString()).toBe(expected);
});

test.each([
  ['text that mentions errors', { delta: '"error" secret-model' }],
  ['a response without an error', { type: 'response.created', response: { error: null, text: 'secret-model' } }],
])('%s stays as it is', (_name, event) => {
  const bytes = frame(event);

  expect(scrubFrame(bytes, IDENTITIES)).toBe(bytes);
});

test.each([
  [': served by secret-host\n\n', ': served by ***\n\n'],
  ['event: error\r\ndata: secret-model is lost\r\n\r\n', 'event: error\r\ndata: public is lost\r\n\r\n'],
  ['\ufeffdata: {"error":"secret-host"}\n\n', '\ufeffdata:{"error":"***"}\n\n'],
])('plain text of the upstream is passed on without identities: %j', (before, after) => {
  expect(scrubFrame(Buffer.from(before), IDENTITIES).toString()).toBe(after);
});

test('the text of a model stays as it is after a comment too', () => {
  const bytes = frame({ delta: 'secret-host' }, ': a comment\n');

  expect(scrubFrame(bytes, IDENTITIES)).toBe(bytes);
});

test('a frame that is not JSON stays as it is', () => {
  const bytes = Buffer.from('data: {"error"\n\n');

  expect(scrubFrame(bytes, IDENTITIES)).toBe(bytes);
});
