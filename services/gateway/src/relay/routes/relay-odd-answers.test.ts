import { describe, expect, test } from '@jest/globals';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { call } from '../../../testing/http-call.ts';
import { openStream } from '../../../testing/open-stream.ts';
import { withRelay } from '../../../testing/relay-under-test.ts';
import { DELIVERED, events, json } from '../../../testing/scripted-relay-upstream.ts';

const relay = withRelay();
const UPSTREAM_MODEL = 'upstream-model-2026';
const LONG = 'x'.repeat(1_500_000);
const ANSWER = { model: UPSTREAM_MODEL, choices: DELIVERED.choices, usage: { prompt_tokens: 9, completion_tokens: 2 } };
const charged = async () => {
  await relay().gateway.settled(1);
  return relay().gateway.calls.settled;
};
const post = () =>
  call(relay().gateway.url, 'POST', '/v1/chat/completions', { body: { model: 'some-model', messages: [] } });

describe('an event that is too long to buffer', () => {
  const done = (type: string, more: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;

  test('still has its usage read and its model hidden', async () => {
    const frame = done('response.completed', {
      response: { output: LONG, model: UPSTREAM_MODEL, usage: { input_tokens: 5, output_tokens: 7 } },
    });
    relay().first.reply = events([frame]);
    const { text } = await (
      await openStream(relay().gateway.url, '/v1/responses', { model: 'some-model', input: 'x', stream: true })
    ).ended;

    expect(text === frame.replace(UPSTREAM_MODEL, 'some-model')).toBe(true);
    expect(await charged()).toMatchObject([{ basis: Basis.USAGE, usage: { inputTokens: 5n, outputTokens: 7n } }]);
  });
  test('counts as an image only if it completes one', async () => {
    const frames = [
      done('image_generation.partial_image', { b64_json: LONG }),
      done('image_generation.completed', { b64_json: 'short' }),
      done('image_generation.completed', { b64_json: LONG, usage: { input_tokens: 5 } }),
    ];
    relay().first.reply = events(frames);
    const { text } = await (
      await openStream(relay().gateway.url, '/v1/images/generations', {
        model: 'some-model',
        prompt: 'x',
        n: 3,
        stream: true,
      })
    ).ended;

    expect(text === frames.join('')).toBe(true);
    expect(await charged()).toMatchObject([{ basis: Basis.USAGE, usage: { images: 2n, inputTokens: 5n } }]);
  });
  test('keeps the JSON intact at any chunk boundary', async () => {
    const body = JSON.stringify({ pad: LONG, model: `${UPSTREAM_MODEL}-05`, more: 'y'.repeat(9000) });
    const cut = body.indexOf(UPSTREAM_MODEL) + UPSTREAM_MODEL.length;
    relay().first.reply = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write(body.slice(0, cut));
      setTimeout(() => response.end(body.slice(cut)), 50);
    };

    expect((await post()).json).toMatchObject({ model: 'some-model' });
  });
});

test.each([
  [undefined, false],
  ['text/json', false],
  [undefined, true],
])('an answer of type %s is read as what the client requested (a stream: %s)', async (type, stream) => {
  relay().first.reply = (_request, response) => {
    response
      .writeHead(200, type === undefined ? {} : { 'content-type': type })
      .end(stream ? `data: ${JSON.stringify(ANSWER)}\n\n` : JSON.stringify(ANSWER));
  };
  const answer = await call(relay().gateway.url, 'POST', '/v1/chat/completions', {
    body: { model: 'some-model', messages: [], stream, stream_options: { include_usage: true } },
  });

  expect(answer.text).toContain('"model":"some-model"');
  expect(await charged()).toMatchObject([{ basis: Basis.USAGE, usage: { inputTokens: 9n, outputTokens: 2n } }]);
});

test('an answer with two content types is read by the first', async () => {
  relay().first.reply = (_request, response) =>
    void response
      .writeHead(200, ['content-type', 'application/json', 'content-type', 'text/plain'])
      .end(JSON.stringify(ANSWER));

  expect((await post()).json).toEqual({ ...ANSWER, model: 'some-model' });
  expect(await charged()).toMatchObject([{ basis: Basis.USAGE }]);
});

test('an HTML page is not an answer: the next channel is tried, or the call is refused and free', async () => {
  relay().first.reply = (_request, response) =>
    void response
      .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
      .end(`<html>sign in to ${UPSTREAM_MODEL}</html>`);
  relay().second.reply = json(ANSWER);
  expect((await post()).json).toEqual({ ...ANSWER, model: 'some-model' });
  expect(relay().second.seen).toHaveLength(1);

  relay().second.reply = relay().first.reply;
  expect(await post()).toMatchObject({ status: 503, json: { error: { code: 'no_channel_available' } } });
  await relay().gateway.settled(2);
  expect(relay().gateway.calls.settled.map(({ basis }) => basis)).toEqual([Basis.USAGE, Basis.RELEASED]);
});
