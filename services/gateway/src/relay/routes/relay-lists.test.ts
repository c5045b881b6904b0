import type { ServerResponse } from 'node:http';
import { expect, test } from '@jest/globals';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { call } from '../../../testing/http-call.ts';
import { openStream } from '../../../testing/open-stream.ts';
import { withRelay } from '../../../testing/relay-under-test.ts';

const relay = withRelay({ timeouts: { first_byte: '5s', idle: '400ms' } });
const PATH = '/v1beta/models/some-model:streamGenerateContent';
const body = { contents: [{ parts: [{ text: 'hello there' }] }] };
const charged = async () => {
  await relay().gateway.settled(1);
  return relay().gateway.calls.settled;
};
const part = (text: string, usage: object = { promptTokenCount: 4 }): object => ({
  candidates: [
    { content: { parts: [{ text }] }, ...('candidatesTokenCount' in usage ? { finishReason: 'STOP' } : {}) },
  ],
  usageMetadata: usage,
  modelVersion: 'upstream-model-2026',
});
const shown = (text: string): string => text.replaceAll('upstream-model-2026', 'some-model');

/** An upstream that has sent the first element of a list; the test scripts the rest. */
async function begun() {
  let upstream: ServerResponse | undefined;
  const first = `[${JSON.stringify(part('one'))}`;
  relay().first.reply = (_request, response) => {
    upstream = response.writeHead(200, { 'content-type': 'application/json; charset=UTF-8' });
    upstream.write(first);
  };
  const stream = await openStream(relay().gateway.url, PATH, body);
  await stream.has(shown(first));
  expect(stream.response.headers).toMatchObject({ 'x-accel-buffering': 'no' });
  return { stream, first, upstream: () => upstream as ServerResponse };
}

test('a list stream is passed on by element, hides the model, and is charged by its last element', async () => {
  const { stream, first, upstream } = await begun();
  const rest = `\n,\r\n${JSON.stringify(part('two', { promptTokenCount: 4, candidatesTokenCount: 9 }))}]\n`;
  upstream().end(rest);

  expect(await stream.ended).toEqual({ text: shown(first + rest), wasWhole: true });
  expect(await charged()).toMatchObject([{ basis: Basis.USAGE, usage: { inputTokens: 4n, outputTokens: 9n } }]);
});

test.each<[string, string, boolean]>([
  ['between two elements', '', true],
  ['after a comma', '\n,\r\n', true],
  ['within an element', ',{"candidates":[{"con', true],
  ['within an element that is too long to be held', `,{"text":"${'x'.repeat(1_100_000)}`, false],
])('a list that breaks off %s ends with an error element if possible', async (_, more, canSay) => {
  const { stream, upstream } = await begun();
  upstream().write(more, () => void setTimeout(() => upstream().destroy(), 50));
  const { text, wasWhole } = await stream.ended;

  expect(wasWhole).toBe(canSay);
  if (canSay)
    expect(JSON.parse(text)).toMatchObject([
      { modelVersion: 'some-model' },
      { error: { code: 502, status: 'UNAVAILABLE' } },
    ]);
  expect(await charged()).toMatchObject([{ basis: Basis.ESTIMATE, usage: { inputTokens: 4n } }]);
});

test('while an upstream is silent, white space between the elements keeps the client connected', async () => {
  const { stream, first, upstream } = await begun();
  upstream().write(',{"half"');
  await stream.has(`${shown(first)},`);
  for (let second = 0; second < 16; second += 1) await relay().gateway.clock.advance(1000);
  await stream.has(`${shown(first)},\n`);
  upstream().end(':1,"candidates":[{"finishReason":"STOP"}]}]');

  expect((await stream.ended).text).toBe(`${shown(first)},\n{"half":1,"candidates":[{"finishReason":"STOP"}]}]`);
});

test('an upstream that answers one object is charged by it', async () => {
  relay().first.reply = (_request, response) =>
    void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify(part('all', { promptTokenCount: 4, candidatesTokenCount: 2 })));
  const answer = await call(relay().gateway.url, 'POST', PATH, { body });

  expect(answer.json).toEqual(
    JSON.parse(shown(JSON.stringify(part('all', { promptTokenCount: 4, candidatesTokenCount: 2 })))),
  );
  expect(answer.headers['content-length']).toBe(String(answer.text.length));
});

test('an error among the elements is passed on without identities', async () => {
  const { stream, upstream } = await begun();
  const message = 'upstream-model-2026 of org-AbCdEf123 is busy';
  upstream().end(`,${JSON.stringify({ error: { code: 429, message, status: 'RESOURCE_EXHAUSTED' } })}]`);

  expect(JSON.parse((await stream.ended).text)[1]).toEqual({
    error: { code: 429, message: 'some-model of *** is busy', status: 'RESOURCE_EXHAUSTED' },
  });
});
