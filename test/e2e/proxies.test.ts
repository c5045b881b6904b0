import { readFileSync } from 'node:fs';
import { createServer, request as send } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { sourceReader } from '@reelgate/platform/source-address';
import { startGatedUpstream } from '../harness/gated-upstream.ts';
import type { GatedUpstream } from '../harness/gated-upstream.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { KEYS, UPSTREAM_KEY } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';
import { describeWith } from '../servers/describe-with.ts';
import { caddy, nginx } from '../servers/proxies.ts';
import type { Proxy } from '../servers/proxies.ts';

const START_TIMEOUT_MS = 120_000;
const PAGE = readFileSync(path.join(import.meta.dirname, '../../deploy/proxies.md'), 'utf8');
const MIB = 1024 * 1024;
const BODY_MAX = 64 * MIB;
const FORM_BYTES = 1024;
/** The default of `timeouts.first_byte`, and the longest wait of a read. */
const SILENT_S_MAX = 300;
/** The gateway closes an idle connection then. */
const KEPT_S = 75;
const PRICE = { per_million_tokens: { input: '0.001', output: '0.001' }, hold: '0.01' };
const AUTHORIZATION = { authorization: `Bearer ${KEYS.demo}` };
const JSON_HEADERS = { ...AUTHORIZATION, 'content-type': 'application/json' };

let upstream: GatedUpstream;
let program: Program;
beforeAll(async () => {
  upstream = await startGatedUpstream();
  program = await newProgram('one program', { upstream: upstream.host }, withGatedModel);
  await program.start();
}, START_TIMEOUT_MS);
afterAll(async () => {
  await program?.end();
  await upstream?.stop();
}, START_TIMEOUT_MS);

const withGatedModel = (config: TestConfig): TestConfig =>
  ({
    ...config,
    gateway: { ...config.gateway, trusted_proxies: ['127.0.0.1'] },
    channels: [
      ...config.channels,
      {
        id: 'gated',
        adapter: 'relay',
        base_url: `http://${upstream.host}/v1`,
        api_key: UPSTREAM_KEY,
        endpoints: ['chat', 'generate_content', 'audio.transcriptions', 'realtime'],
        models: { gated: 'gated' },
      },
    ],
    prices: { ...config.prices, gated: PRICE, gated__audio_transcriptions: { per_second: '0.001', hold: '0.01' } },
  }) as TestConfig;

/** The snippet of the page in a language. */
function readSnippet(language: string): string {
  const [, snippet] = new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, 'm').exec(PAGE) ?? [];
  if (snippet === undefined) throw new Error(`the page has no snippet in ${language}`);
  return snippet;
}

/** Reads an answer up to a text, and returns a reader of the rest. */
async function readUntil(answer: Response, text: string): Promise<{ rest(): Promise<string> }> {
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  let seen = '';
  const read = async (isEnough: () => boolean): Promise<string> => {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      seen += next.value;
      if (isEnough()) break;
    }
    return seen;
  };
  await read(() => seen.includes(text));
  return { rest: () => read(() => false) };
}

const chat = (stream: boolean) => ({ model: 'gated', stream, messages: [{ role: 'user', content: 'x' }] });
const seconds = (snippet: string, name: string): number => Number(new RegExp(`${name} (\\d+)s`).exec(snippet)?.[1]);

describe('the times of the page fit the gateway', () => {
  test.each([
    ['nginx', 'proxy_read_timeout', 'keepalive_timeout'],
    ['caddyfile', 'response_header_timeout', 'keepalive'],
  ])('%s', (language, silence, kept) => {
    const snippet = readSnippet(language);

    expect(seconds(snippet, silence)).toBeGreaterThan(SILENT_S_MAX);
    expect(seconds(snippet, kept)).toBeLessThan(KEPT_S);
  });
});

describe.each<Proxy>([nginx, caddy])('the snippet of the page for $name', (proxy) => {
  const launcher = {
    ...proxy,
    start: () => proxy.start(readSnippet(proxy.language), new URL(program.base).host),
  };
  describeWith(launcher, 'the gateway', (url) => {
    const post = (at: string, body: object, signal?: AbortSignal) =>
      fetch(url() + at, {
        method: 'POST',
        headers: JSON_HEADERS,
        body: JSON.stringify(body),
        ...(signal === undefined ? {} : { signal }),
      });

    test.each([
      ['events', '/v1/chat/completions', chat(true)],
      ['a list', '/v1beta/models/gated:streamGenerateContent', { contents: [{ parts: [{ text: 'x' }] }] }],
    ])('a stream of %s passes piece by piece: the first arrives before the last is sent', async (_, at, body) => {
      const answer = await post(at, body);
      const { rest } = await readUntil(answer, 'first');
      upstream.open();

      expect(answer.status).toBe(200);
      expect(await rest()).toContain('last');
    });
    test('a client that leaves ends the work of the upstream', async () => {
      const leaves = new AbortController();
      await readUntil(await post('/v1/chat/completions', chat(true), leaves.signal), 'first');
      leaves.abort();

      await upstream.left();
    });
    test('a body of nearly 64 MiB passes', async () => {
      const form = new FormData();
      form.set('model', 'gated');
      form.set('file', new Blob([Buffer.alloc(BODY_MAX - FORM_BYTES)]), 'a.wav');
      const answer = await fetch(`${url()}/v1/audio/transcriptions`, {
        method: 'POST',
        headers: AUTHORIZATION,
        body: form,
      });
      const { text } = (await answer.json()) as { readonly text: string };

      expect(answer.status).toBe(200);
      expect(Number(text)).toBeGreaterThan(BODY_MAX - FORM_BYTES);
    });
    test('a longer body is refused by the gateway, in the shape that clients read', async () => {
      const headers = { ...JSON_HEADERS, 'content-length': String(BODY_MAX + 1) };
      const request = send(`${url()}/v1/chat/completions`, { method: 'POST', headers, agent: false });
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        request.once('response', resolve).once('error', reject).flushHeaders();
      });
      let text = '';
      for await (const chunk of answer) text += String(chunk);
      request.on('error', () => undefined).destroy();

      expect([answer.statusCode, JSON.parse(text)]).toMatchObject([413, { error: { code: 'body_too_large' } }]);
    });
    test('a realtime session passes', async () => {
      const socket = new WebSocket(`${url().replace('http', 'ws')}/v1/realtime?model=gated`, {
        headers: AUTHORIZATION,
      });
      const messages: string[] = [];
      const event = '{"type":"conversation.item.create","item":{"type":"message"}}';
      await new Promise<void>((resolve, reject) => {
        socket.on('error', reject).on('message', (message: Buffer) => {
          messages.push(message.toString());
          if (messages.length === 1) socket.send(event);
          else resolve();
        });
      });
      socket.close();

      expect(messages).toEqual([expect.stringContaining('session.created'), event]);
    });
    test('a wait passes', async () => {
      const created = await post('/async/v1/chat/completions', chat(false));
      const { id } = (await created.json()) as { readonly id: string };
      const wait = () => fetch(`${url()}/get-async?id=${id}`, { headers: { ...AUTHORIZATION, prefer: 'wait=60' } });
      const waiting = wait();
      upstream.open();
      let answer = await waiting;
      let read = (await answer.json()) as { readonly status: string };
      // the first change is the begin
      while (read.status !== 'completed' && answer.ok) {
        answer = await wait();
        read = (await answer.json()) as typeof read;
      }

      expect(answer.headers.get('preference-applied')).toBe('wait=60');
      expect(read).toMatchObject({ status: 'completed', status_code: 200 });
    });
  });

  const testIfThere = proxy.missing() === undefined ? test : test.skip;
  testIfThere('tells clients apart by addresses that they cannot claim', async () => {
    const readSource = sourceReader(['127.0.0.1']);
    const behind = createServer((request, response) => {
      response.end(JSON.stringify([readSource(request), request.headers.host]));
    });
    await new Promise<void>((resolve) => behind.listen(0, '127.0.0.1', resolve));
    const { port } = behind.address() as AddressInfo;
    const running = await proxy.start(readSnippet(proxy.language), `127.0.0.1:${port}`);
    try {
      const ask = async (localAddress: string, claimed: object): Promise<unknown> => {
        const answer = await new Promise<IncomingMessage>((resolve, reject) => {
          send(running.url, { localAddress, agent: false, headers: { ...claimed } })
            .once('response', resolve)
            .once('error', reject)
            .end();
        });
        let text = '';
        for await (const chunk of answer) text += String(chunk);
        return JSON.parse(text);
      };
      const { host } = new URL(running.url);

      expect(await ask('127.0.0.2', {})).toEqual(['127.0.0.2', host]);
      expect(await ask('127.0.0.3', { 'x-forwarded-for': '127.0.0.2' })).toEqual(['127.0.0.3', host]);
    } finally {
      await running.stop();
      await new Promise((resolve) => behind.close(resolve).closeAllConnections());
    }
  });
});
