import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import { moneyAccount } from '../harness/relay-config.ts';
import { startRelayProgram } from '../harness/relay-program.ts';
import type { RelayProgram } from '../harness/relay-program.ts';
import type { Shape } from '../harness/program.ts';
import { until } from '@reelgate/platform/testing/until';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';

const START_TIMEOUT_MS = 120_000;
/** A thousandth for each input token, two for each output token. The upstream reports eleven and seven tokens. */
const USED = 25_000_000n;
const HOLD = 500_000_000n;

const user = (text: string) => [{ role: 'user', content: text }];
const chat = (text: string, over: object = {}) => ({ model: 'solo', messages: user(text), ...over });
const form = (fields: Readonly<Record<string, string>>): FormData => {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.append(name, value);
  data.append('file', new Blob([Buffer.alloc(100)], { type: 'audio/mpeg' }), 'sound.mp3');
  return data;
};

interface Row {
  readonly name: string;
  readonly path: string;
  readonly body: object | FormData;
  readonly spent: bigint;
}
const row = (name: string, path: string, body: object | FormData, spent: bigint): Row => ({ name, path, body, spent });

const ROWS: readonly Row[] = [
  row('chat', '/v1/chat/completions', chat('x'), USED),
  row('chat-max', '/v1/chat/completions', chat('x', { max_tokens: 1000, n: 2 }), USED),
  row('chat-much', '/v1/chat/completions', chat('[usage:100/50]'), 200_000_000n),
  row('chat-stream', '/v1/chat/completions', chat('x', { stream: true }), USED),
  row(
    'chat-stream-asked',
    '/v1/chat/completions',
    chat('x', { stream: true, stream_options: { include_usage: true } }),
    USED,
  ),
  row('responses', '/v1/responses', { model: 'solo', input: 'x' }, USED),
  row('responses-stream', '/v1/responses', { model: 'solo', input: 'x', stream: true }, USED),
  row('messages', '/v1/messages', chat('x', { max_tokens: 50 }), USED),
  row('messages-stream', '/v1/messages', chat('x', { max_tokens: 50, stream: true }), USED),
  row('count-tokens', '/v1/messages/count_tokens', chat('x'), 0n),
  row('content', '/v1beta/models/solo:generateContent', { contents: [{ parts: [{ text: 'x' }] }] }, USED),
  row(
    'content-stream',
    '/v1beta/models/solo:streamGenerateContent?alt=sse',
    { contents: [{ parts: [{ text: 'x' }] }] },
    USED,
  ),
  row('embeddings', '/v1/embeddings', { model: 'solo', input: 'x' }, 11_000_000n),
  row('rerank', '/v1/rerank', { model: 'solo', query: 'x', documents: ['y'] }, 2_000_000n),
  row('images', '/v1/images/generations', { model: 'solo', prompt: 'x', n: 2 }, 80_000_000n),
  row('edits', '/v1/images/edits', form({ model: 'solo', prompt: 'x' }), 50_000_000n),
  row('speech', '/v1/audio/speech', { model: 'solo', input: 'x', voice: 'y' }, 30_000_000n),
  row('transcription', '/v1/audio/transcriptions', form({ model: 'solo', prompt: '[seconds:4]' }), 40_000_000n),
  row('translation', '/v1/audio/translations', form({ model: 'solo', prompt: 'x' }), 30_000_000n),
  row('silent-usage', '/v1/chat/completions', chat('[no-usage]'), HOLD),
  row('refused', '/v1/chat/completions', chat('[status:400]'), 0n),
  row('failed', '/v1/chat/completions', chat('[status:500]'), 0n),
  row('large', '/v1/chat/completions', chat('[huge:3000000]'), USED),
];
const PARTIAL = ['died', 'left', 'left-messages'] as const;

describe('one program', () => {
  moneySuite('one program');
});

describeWith(natsServer, 'four processes over gRPC', (bus) => {
  moneySuite('four processes', bus);
});

function moneySuite(shape: Shape, bus?: () => string): void {
  let relay: RelayProgram;

  beforeAll(async () => {
    relay = await startRelayProgram({ shape, bus: bus?.(), accounts: [...ROWS.map(({ name }) => name), ...PARTIAL] });
  }, START_TIMEOUT_MS);

  afterAll(async () => {
    await relay?.end();
  }, START_TIMEOUT_MS);

  const send = (account: string, path: string, body: object | FormData, signal?: AbortSignal): Promise<Response> =>
    fetch(relay.program.base + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${moneyAccount(account).key}`,
        ...(body instanceof FormData ? {} : { 'content-type': 'application/json' }),
      },
      body: body instanceof FormData ? body : JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    });

  describe('a call is charged once, by the usage that its upstream reports', () => {
    test.each(ROWS.map((one) => [one.name, one] as const))('%s', async (name, { path, body, spent }) => {
      const answer = await send(name, path, body);
      await answer.arrayBuffer();

      expect(await relay.settled(name)).toEqual({ spent, held: 0n });
      await wait(30);
      expect(await relay.money(name)).toEqual({ spent, held: 0n });
    });
  });

  describe('a stream that does not end is charged by the part that arrived', () => {
    test('when the upstream dies', async () => {
      await (await send('died', '/v1/chat/completions', chat('[die:4]', { stream: true }))).text();
      const { spent, held } = await relay.settled('died');

      expect(held).toBe(0n);
      expect(spent).toBeGreaterThan(0n);
      expect(spent).toBeLessThan(HOLD);
    });

    test.each([
      ['left', '/v1/chat/completions', {}],
      ['left-messages', '/v1/messages', { max_tokens: 50 }],
    ])('when the client leaves: %s', async (account, path, over) => {
      const gone = new AbortController();
      const answer = await send(
        account,
        path,
        chat(`[mark:${account}][pieces:500][pace:20]`, { stream: true, ...over }),
        gone.signal,
      );
      await answer.body!.getReader().read();
      expect((await relay.money(account)).held).toBeGreaterThan(0n);
      gone.abort();
      const { spent, held } = await relay.settled(account);

      expect(held).toBe(0n);
      expect(spent).toBeGreaterThan(0n);
      expect(spent).toBeLessThan(HOLD);
      await until(() => relay.upstream.marked(account)[0]!.left);
    });
  });

  test('the ledger balances afterwards', async () => {
    const { json } = await relay.program.command('ledger', 'verify');

    expect(json).toMatchObject({ ok: true });
  });
}
