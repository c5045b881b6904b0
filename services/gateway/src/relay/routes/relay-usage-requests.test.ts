import { describe, expect, test } from '@jest/globals';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { call } from '../../../testing/http-call.ts';
import { withRelay } from '../../../testing/relay-under-test.ts';
import { events, json } from '../../../testing/scripted-relay-upstream.ts';
import type { Reply } from '../../../testing/scripted-relay-upstream.ts';

const HOUR_MS = 3_600_000;
const relay = withRelay();
const silent = withRelay({ ask_usage: false });

const chat = { model: 'some-model', messages: [{ role: 'user', content: 'hello' }], stream: true };
const CHUNK = 'data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\n';
const DONE = 'data: [DONE]\n\n';
const streamed = events([CHUNK, DONE]);
const post = (under = relay(), body: object = chat) =>
  call(under.gateway.url, 'POST', '/v1/chat/completions', { body });
const asks = (body: Buffer): boolean => 'stream_options' in (JSON.parse(body.toString()) as object);
const sent = (under = relay()) => under.upstreams.map(({ seen }) => seen.map(({ body }) => asks(body)));
/** An upstream that refuses calls with the member, as vendors do. */
const refusing =
  (refusal: Reply, otherwise: Reply = streamed): Reply =>
  (request, response) => {
    (asks(request.body) ? refusal : otherwise)(request, response);
  };
/** Lets the channels forget what they have learned. */
const forget = () => relay().gateway.clock.advance(HOUR_MS);

describe('an upstream that refuses the request for usage', () => {
  test.each<[string, Reply]>([
    ['400 with its name', json({ error: { message: 'x', param: 'stream_options' } }, 400)],
    ['422 with its place', json({ detail: [{ type: 'extra_forbidden', loc: ['body', 'stream_options'] }] }, 422)],
    ['400 with the name of its member', json({ error: { message: 'unknown field include_usage' } }, 400)],
    ['400 in words', json({ error: { message: 'Stream options are not supported' } }, 400)],
    ['500 of a program', json({ error: { message: "unexpected keyword argument 'stream_options'" } }, 500)],
    ['200 with an error', json({ error: { message: 'bad field: stream_options', code: 400 } })],
    ['plain text', (_, response) => response.writeHead(400).end('unknown parameter stream_options')],
  ])('is asked once more without it, and then for an hour never again: %s', async (_, refusal) => {
    await forget();
    relay().first.reply = refusing(refusal);
    const [first, second] = [await post(), await post()];
    await relay().gateway.settled(2);

    expect([first.status, first.text, second.text]).toEqual([200, CHUNK + DONE, CHUNK + DONE]);
    expect(sent()).toEqual([[true, false, false], []]);
    // without usage, a stream costs its hold
    expect(relay().gateway.calls.settled).toMatchObject([{ basis: Basis.HOLD }, { basis: Basis.HOLD }]);
    expect(relay().gateway.warnings.filter(({ message }) => message.includes('usage'))).toMatchObject([
      { fields: { channel: 'channel-one', model: 'some-model' } },
    ]);

    await forget();
    relay().first.seen.length = 0;
    await post();

    expect(sent()).toEqual([[true, false], []]);
  });
  test('never names it to the client, whatever the second answer is', async () => {
    await forget();
    relay().first.reply = refusing(
      json({ error: { message: 'x', param: 'stream_options' } }, 400),
      json({ error: { message: 'messages is too short', param: 'messages' } }, 400),
    );
    const { status, text } = await post();

    expect(status).toBe(400);
    expect(text).toContain('messages is too short');
    expect(text).not.toMatch(/stream_options|include_usage/);
    expect(sent()).toEqual([[true, false], []]);
  });
  test('is not believed by what a request provokes: only a stream that comes without it is remembered', async () => {
    await forget();
    const refusal = json({ error: { message: 'the prompt has the word stream_options' } }, 400);
    relay().first.reply = refusal;
    await post();
    relay().first.reply = streamed;
    await post();

    expect(sent()).toEqual([[true, false, true], []]);
  });
  test.each([
    ['a request that holds the words', 'what is stream_options?'],
    ['a request that is too long to be searched', 'x'.repeat(1024 * 1024)],
  ])('is not learned from %s', async (_, content) => {
    await forget();
    relay().first.reply = refusing(json({ error: { message: 'stream_options' } }, 400));
    const body = { ...chat, messages: [{ role: 'user', content }] };
    const { status } = await post(relay(), body);
    await post(relay(), body);

    expect([status, sent()]).toEqual([200, [[true, false, true, false], []]]);
  });
  test('is asked no second time for what the client itself sent', async () => {
    await forget();
    relay().first.reply = json({ error: { message: 'stream_options is not known here' } }, 400);
    const own = await post(relay(), { ...chat, stream_options: { include_obfuscation: false } });

    expect(own.text).toContain('stream_options is not known here');
    expect(sent()).toEqual([[true], []]);
  });
  test('is asked no second time after another refusal, and no fault counts twice', async () => {
    await forget();
    relay().first.reply = json({ error: { message: 'no such tool' } }, 400);
    await post();

    expect(sent()).toEqual([[true], []]);
  });
  test('gives the next channel its turn if it fails without the request too', async () => {
    await forget();
    relay().first.reply = refusing(
      json({ error: { message: 'stream_options?' } }, 400),
      json({ error: { message: 'down' } }, 503),
    );
    relay().second.reply = streamed;
    const { status } = await post();

    expect([status, sent()]).toEqual([200, [[true, false], [true]]]);
  });
});

describe('a channel with ask_usage: false', () => {
  test('gets the body of the client, and its streams cost their holds', async () => {
    silent().first.reply = streamed;
    await post(silent());
    await silent().gateway.settled(1);

    expect(sent(silent())).toEqual([[false], []]);
    expect(silent().gateway.calls.settled).toMatchObject([{ basis: Basis.HOLD }]);
  });
  test('gets what the client asks for itself, and its usage is charged and shown', async () => {
    const usage = 'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3}}\n\n';
    silent().first.reply = events([CHUNK, usage, DONE]);
    const { text } = await post(silent(), { ...chat, stream_options: { include_usage: true } });
    await silent().gateway.settled(1);

    expect([sent(silent()), text]).toEqual([[[true], []], CHUNK + usage + DONE]);
    expect(silent().gateway.calls.settled).toMatchObject([{ basis: Basis.USAGE, usage: { outputTokens: 3n } }]);
  });
});

describe('no event is left half once its usage is gone', () => {
  const USAGE = '{"prompt_tokens":9,"completion_tokens":3}';
  const whole = [
    ['no choices', `data: {"choices":[],"usage":${USAGE}}\n\n`],
    ['choices that are null', `data: {"choices":null,"usage":${USAGE}}\n\n`],
    ['no member of choices', `data: {"id":"x","object":"chat.completion.chunk","usage":${USAGE}}\n\n`],
    ['a usage that has no counter', 'data: {"choices":[],"usage":{}}\n\n'],
    ['several lines', `data: {"choices":[],\ndata: "usage":${USAGE}}\n\n`],
    ['a name of the event', `event: usage\ndata: {"choices":[],"usage":${USAGE}}\n\n`],
    ['no space', `data:{"choices":[],"usage":${USAGE}}\r\n\r\n`],
  ] as const;
  const parts = [
    [
      'a choice',
      `data: {"choices":[{"index":0,"delta":{}}],"usage":${USAGE}}\n\n`,
      'data: {"choices":[{"index":0,"delta":{}}]}\n\n',
    ],
    ['no usage yet', 'data: {"choices":[],"usage":null,"filter":[1]}\n\n', 'data: {"choices":[],"filter":[1]}\n\n'],
    [
      'a choice in several lines',
      `data: {"choices":[{"index":0,\ndata: "delta":{}}],\ndata: "usage":${USAGE}}\n\n`,
      'data: {"choices":[{"index":0,  "delta":{}}]}\n\n',
    ],
  ] as const;
  const types = ['text/event-stream', 'text/plain', 'application/json', 'application/octet-stream', ''];
  const answers = async (type: string, frame: string): Promise<string> => {
    await forget();
    relay().first.reply = events([CHUNK, frame, DONE], { 'content-type': type });
    return (await post()).text;
  };

  test.each(whole.flatMap(([what, frame]) => types.map((type) => [what, type, frame] as const)))(
    'an event with %s is dropped under the type "%s"',
    async (_, type, frame) => {
      expect(await answers(type, frame)).toBe(CHUNK + DONE);
    },
  );
  test.each(parts.flatMap(([what, frame, rest]) => types.map((type) => [what, type, frame, rest] as const)))(
    'an event with %s loses its usage alone under the type "%s"',
    async (_, type, frame, rest) => {
      expect(await answers(type, frame)).toBe(CHUNK + rest + DONE);
    },
  );
  test('an event with an error stays, whatever usage it reports', async () => {
    expect(await answers('text/event-stream', `data: {"error":{"message":"broke"},"usage":${USAGE}}\n\n`)).toContain(
      'broke',
    );
  });
});
