import { expect, test } from '@jest/globals';
import { eventIn, withoutIdentities } from './event-data.ts';

const IDENTITIES = { publicModel: 'public', upstreamModel: 'secret-model', hidden: ['secret-host'] };
const frame = (data: object, more = ''): Buffer => Buffer.from(`${more}data: ${JSON.stringify(data)}\n\n`);

test.each([
  [
    'an error of its own',
    { error: { message: 'no secret-model at secret-host', code: 'x' } },
    { error: { message: 'no public at ***', code: 'x' } },
  ],
  [
    'an error that is a text',
    { error: 'no secret-model at secret-host', code: 7 },
    { error: 'no public at ***', code: 7 },
  ],
  [
    'an event called so',
    { type: 'error', message: 'secret-model', request_id: 'req_abcdefgh' },
    { type: 'error', message: 'public' },
  ],
  [
    'a response that failed',
    { type: 'response.failed', response: { id: 'resp_1', error: { message: 'org-abcdefgh1' } } },
    { type: 'response.failed', response: { id: 'resp_1', error: { message: '***' } } },
  ],
])('%s is told without identities', (_name, told, expected) => {
  for (const more of ['', 'event: x\n', ': a comment\r\n', 'id: data:7\n']) {
    const shown = withoutIdentities(frame(told, more), IDENTITIES);

    expect(eventIn(shown)).toEqual(expected);
    expect(shown.toString()).toMatch(new RegExp(`^${more}data:.*\n\n$`));
  }
});

test.each([
  [
    'in several lines',
    `event: error\ndata: {"error":\ndata:  {"message":"secret-model"}}\nid: 7\n\n`,
    `event: error\ndata:{"error":{"message":"public"}}\nid: 7\n\n`,
  ],
  ['in no data line', '{"error":{"message":"secret-host"}}\n\n', '{"error":{"message":"***"}}\n\n'],
])('a fault that is written %s is told without identities', (_name, frameText, expected) => {
  expect(withoutIdentities(Buffer.from(frameText), IDENTITIES).toString()).toBe(expected);
});

test.each([
  ['text that speaks of errors', { delta: '"error" secret-model' }],
  ['a response without one', { type: 'response.created', response: { error: null, text: 'secret-model' } }],
])('%s stays as it is', (_name, event) => {
  const bytes = frame(event);

  expect(withoutIdentities(bytes, IDENTITIES)).toBe(bytes);
});

test.each([
  [': served by secret-host\n\n', ': served by ***\n\n'],
  ['event: error\r\ndata: secret-model is lost\r\n\r\n', 'event: error\r\ndata: public is lost\r\n\r\n'],
  ['\ufeffdata: {"error":"secret-host"}\n\n', '\ufeffdata:{"error":"***"}\n\n'],
])("text of the upstream's own is told without identities: %j", (before, after) => {
  expect(withoutIdentities(Buffer.from(before), IDENTITIES).toString()).toBe(after);
});

test('what a model has written stays as it is behind a comment, too', () => {
  const bytes = frame({ delta: 'secret-host' }, ': a comment\n');

  expect(withoutIdentities(bytes, IDENTITIES)).toBe(bytes);
});

test('a frame that is no JSON stays as it is', () => {
  const bytes = Buffer.from('data: {"error"\n\n');

  expect(withoutIdentities(bytes, IDENTITIES)).toBe(bytes);
});
