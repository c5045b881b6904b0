import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import http from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { startRelayProgram } from '../harness/relay-program.ts';
import type { RelayProgram } from '../harness/relay-program.ts';
import { NEVER_SEEN } from '../harness/relay-upstream/identities.ts';
import type { Received } from '../harness/relay-upstream/received.ts';
import { KEYS } from '../harness/test-config.ts';
import { until } from '@reelgate/platform/testing/until';

const START_TIMEOUT_MS = 120_000;
const STILL_MS = 400;
const STILL_MS_MAX = 60_000;
const READ_TIMEOUT_MS = 90_000;
const MIB = 2 ** 20;
/** The most bytes in the buffers of three sockets and of the gateway. */
const ON_THE_WAY_MAX = 24 * MIB;

let relay: RelayProgram;
let marks = 0;

beforeAll(async () => {
  relay = await startRelayProgram();
}, START_TIMEOUT_MS);

afterAll(async () => {
  await relay?.end();
}, START_TIMEOUT_MS);

interface Asked {
  readonly request: ClientRequest;
  readonly response: IncomingMessage;
  readonly there: Received;
}

/** A call whose answer the test reads at its own pace. */
async function ask(words: string, over: object = { stream: true }): Promise<Asked> {
  marks += 1;
  const mark = `streams-${marks}`;
  const request = http.request(`${relay.program.base}/v1/chat/completions`, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${KEYS.demo}`, 'content-type': 'application/json', te: 'trailers' },
  });
  request.end(
    JSON.stringify({ model: 'solo', messages: [{ role: 'user', content: `[mark:${mark}]${words}` }], ...over }),
  );
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { request, response, there: relay.upstream.marked(mark)[0]! };
}

/** Waits until a figure has not changed for a while. */
async function untilStill(figure: () => number): Promise<void> {
  const deadline = performance.now() + STILL_MS_MAX;
  let before = -1;
  while (before !== figure()) {
    if (performance.now() > deadline) throw new Error('it never stands still');
    before = figure();
    await wait(STILL_MS);
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

test('the first text reaches the client while the upstream is silent', async () => {
  const { request, response, there } = await ask('[after:2][silent:3000]');
  let text = '';
  response.on('data', (piece: Buffer) => (text += piece.toString()));
  await until(() => text.includes('Hello'));

  expect(text).toContain('"role":"assistant"');
  expect(there.over).toBe(false);
  request.destroy();
});

test('the gateway sends comments during a silence, each as a frame of its own', async () => {
  const { response } = await ask('[silent:16500]');
  const frames = (await textOf(response)).split('\n\n');

  expect(frames.filter((frame) => frame === ': ping').length).toBeGreaterThan(0);
  expect(frames.filter((frame) => frame.includes(': ping') && frame !== ': ping')).toEqual([]);
  expect(frames.at(-2)).toBe('data: [DONE]');
}, 120_000);

describe('an upstream sends no faster than its client reads', () => {
  test.each([
    ['a stream of many events', '[pieces:250000]', { stream: true }],
    ['one huge answer', '[huge:60000000]', {}],
  ])(
    '%s',
    async (_name, words, over) => {
      const { request, response, there } = await ask(words, over);
      response.pause();
      await until(() => there.sent > 0);
      await untilStill(() => there.sent);
      expect(there.over).toBe(false);
      expect(there.sent).toBeLessThan(ON_THE_WAY_MAX);

      let got = 0;
      response.on('data', (part: Buffer) => {
        got += part.length;
      });
      response.resume();
      await once(response, 'end', { signal: AbortSignal.timeout(READ_TIMEOUT_MS) });
      expect(response.complete).toBe(true);
      // The public name of the model is shorter than the upstream's.
      expect(got).toBeGreaterThan(there.sent * 0.7);
      request.destroy();
    },
    120_000,
  );
});

describe("the upstream's work ends when its client disconnects", () => {
  test.each([
    ['in the middle of a stream', '[pieces:1000][pace:20]'],
    ['in a silence', '[silent:20000]'],
  ])('%s', async (_name, words) => {
    const { request, response, there } = await ask(words);
    await once(response, 'data');
    request.destroy();

    await until(() => there.left);
  });

  test('before the first byte', async () => {
    marks += 1;
    const mark = `streams-${marks}`;
    const gone = new AbortController();
    const answer = fetch(`${relay.program.base}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEYS.demo}`, 'content-type': 'application/json' },
      signal: gone.signal,
      body: JSON.stringify({ model: 'solo', messages: [{ role: 'user', content: `[mark:${mark}][slow:10000]` }] }),
    }).catch((error: unknown) => error);
    await until(() => relay.upstream.marked(mark).length === 1);
    gone.abort();
    await answer;

    await until(() => relay.upstream.marked(mark)[0]!.left);
    expect(relay.upstream.marked(mark)).toHaveLength(1);
  });
});

test('trailers are passed on without those that name the upstream', async () => {
  const { response } = await ask('[trailer]');
  await textOf(response);

  expect(response.trailers).toEqual({ 'x-checksum': 'abc123' });
});

test('a stream that the upstream ends without its end mark ends with a blank line', async () => {
  const { response } = await ask('[end:3]');
  const text = await textOf(response);

  expect(text.endsWith('\n\n')).toBe(true);
  expect(NEVER_SEEN.filter((secret) => text.includes(secret))).toEqual([]);
});

test('hundreds of silent streams cost little, and all continue', async () => {
  const STREAMS = 300;
  const before = await rss();
  const streams = await Promise.all(
    Array.from({ length: STREAMS }, () => ask('[silent:4000]', { stream: true, max_tokens: 10 })),
  );
  const during = await rss();
  const texts = await Promise.all(streams.map(({ response }) => textOf(response)));

  expect(texts.every((text) => text.endsWith('data: [DONE]\n\n'))).toBe(true);
  expect((during - before) / STREAMS).toBeLessThan(MIB / 4);
}, 120_000);

async function rss(): Promise<number> {
  const text = await (await fetch(`http://${relay.program.config.gateway.admin}/metrics`)).text();
  return Number(/^process_resident_memory_bytes ([\d.e+]+)$/m.exec(text)?.[1]);
}
