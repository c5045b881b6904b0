import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { UpstreamRequest } from '@reelgate/adapter-kit';
import { CUT_TEXT } from '@reelgate/adapter-kit/kit';
import { systemClock } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { until } from '@reelgate/platform/testing/until';
import { openScriptedUpstream } from './adapter-contract/scripted-upstream.ts';
import type { ScriptedAnswer, ScriptedUpstream } from './adapter-contract/scripted-upstream.ts';
import type { Dispatcher } from 'undici';
import { upstreamHttp } from './upstream-http.ts';
import type { UpstreamHttp, UpstreamResult } from './upstream-http.ts';

const PATIENT_MS = 10_000;
/** Longer than any test runs. */
const LONG_MS = 600_000;
/** The most connections to one upstream. */
const CONNECTIONS = 64;
const ok: ScriptedAnswer = { status: 200, json: { ok: true } };
const opened: UpstreamHttp[] = [];
let upstream: ScriptedUpstream;

beforeAll(async () => {
  upstream = await openScriptedUpstream();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((http) => http.close()));
});
afterAll(() => upstream.close());

interface Setting {
  readonly prefix?: string;
  readonly origin?: string;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  readonly timeoutMs?: number;
}

function call(
  request: Partial<UpstreamRequest> = {},
  {
    prefix = '',
    origin = upstream.url,
    signal = new AbortController().signal,
    clock = systemClock,
    timeoutMs = PATIENT_MS,
  }: Setting = {},
): Promise<UpstreamResult> {
  const http = upstreamHttp({ baseUrl: origin + prefix, clock }, () => ({ authorization: 'Bearer key' }));
  opened.push(http);
  return http.call({ method: 'GET', path: '/v2/things?page=1', ...request }, timeoutMs, signal);
}

describe('a request that cannot be sent was not', () => {
  const post = { method: 'POST', path: '/v2/things', json: { a: 1 } } as const;
  test.each<[string, Partial<UpstreamRequest>]>([
    ['it chooses its transfer', { ...post, headers: { 'transfer-encoding': 'chunked' } }],
    ['it expects an answer before its body', { ...post, headers: { expect: '100-continue' } }],
    ['it has another length', { ...post, headers: { 'content-length': '3' } }],
    ['it has no length', { ...post, headers: { 'content-length': 'x' } }],
    ['a header breaks its line', { ...post, headers: { 'x-a': 'b\r\nc: d' } }],
    [
      'a form chooses its transfer',
      { method: 'POST', form: [{ name: 'a', text: 'b' }], headers: { upgrade: 'x y\n' } },
    ],
  ])('%s', async (_why, request) => {
    upstream.script(ok);

    expect(await call(request)).toMatchObject({ kind: 'unsent', error: expect.stringMatching(/^UND_ERR/) });
    expect(upstream.requests).toEqual([]);
  });
});

describe('a call', () => {
  test.each([
    ['', '/v2/things?page=1'],
    ['/', '/v2/things?page=1'],
    ['/base', '/base/v2/things?page=1'],
    ['/base/', '/base/v2/things?page=1'],
  ])('to an upstream at %j requests %s', async (prefix, path) => {
    upstream.script(ok);

    await call({}, { prefix });

    expect(upstream.requests).toMatchObject([{ method: 'GET', path, body: undefined }]);
  });

  test('has the JSON content type only when it sends JSON', async () => {
    upstream.script(ok, ok);

    await call();
    await call({ method: 'POST', json: { a: 1 } });

    expect(upstream.requests[0]?.headers).not.toHaveProperty('content-type');
    expect(upstream.requests[1]).toMatchObject({
      method: 'POST',
      body: { a: 1 },
      headers: { 'content-type': 'application/json', authorization: 'Bearer key' },
    });
  });

  test('computes its headers each time', async () => {
    let count = 0;
    const http = upstreamHttp({ baseUrl: upstream.url, clock: systemClock }, () => ({
      'x-count': String((count += 1)),
    }));
    opened.push(http);
    upstream.script(ok, ok);
    const request = { method: 'GET', path: '/' } as const;

    await http.call(request, PATIENT_MS, new AbortController().signal);
    await http.call(request, PATIENT_MS, new AbortController().signal);

    expect(upstream.requests.map(({ headers }) => headers['x-count'])).toEqual(['1', '2']);
  });
});

test('the connections come from the function of the caller', async () => {
  const opened: string[] = [];
  const http = upstreamHttp(
    {
      baseUrl: 'http://upstream.example/base',
      clock: systemClock,
      openPool: (origin) => {
        opened.push(origin);
        return {
          dispatch: ({ path }, handler) => {
            const refused = Object.assign(new Error(`no connection for ${path}`), { code: 'ECONNREFUSED' });
            handler.onResponseError?.({} as Dispatcher.DispatchController, refused);
            return true;
          },
          destroy: async () => void opened.push('destroyed'),
        };
      },
    },
    () => ({}),
  );

  const result = await http.call({ method: 'GET', path: '/works' }, PATIENT_MS, new AbortController().signal);
  await http.close();

  expect(result).toEqual({ kind: 'unreachable', error: 'ECONNREFUSED: no connection for /base/works' });
  expect(opened).toEqual(['http://upstream.example', 'destroyed']);
});

describe('an answer', () => {
  test.each<[string, ScriptedAnswer, object]>([
    ['with JSON', { status: 201, json: { a: ['狐'] } }, { status: 201, body: { a: ['狐'] } }],
    ['with another content', { status: 502, text: '<html>' }, { status: 502, body: undefined }],
    ['without content', { status: 204, text: '' }, { status: 204, body: undefined }],
  ])('%s is returned with its status', async (_what, scripted, told) => {
    upstream.script(scripted);

    expect(await call()).toMatchObject({ kind: 'answer', ...told });
  });

  test('that is a redirect is not followed', async () => {
    upstream.script({ status: 302, text: '', headers: { location: '/elsewhere' } }, ok);

    expect(await call()).toMatchObject({ kind: 'answer', status: 302 });
    expect(upstream.requests).toHaveLength(1);
  });

  test('with a text of more than 4 MiB has a mark in its place', async () => {
    upstream.script({ status: 200, json: { status: 'completed', data: 'A'.repeat(9 * 1024 * 1024), id: '狐' } });

    expect(await call()).toMatchObject({
      kind: 'answer',
      body: { status: 'completed', data: CUT_TEXT, id: '狐' },
    });
  });

  test('without an end is dropped when it is too long', async () => {
    upstream.script('endless');

    expect(await call()).toEqual({ kind: 'lost', error: expect.stringContaining('too long') });
  });
});

describe('no answer', () => {
  test.each<ScriptedAnswer>(['reset', 'cut'])(
    'after %s is a lost answer, because the request was read',
    async (scripted) => {
      upstream.script(scripted);

      expect(await call({ method: 'POST', json: {} })).toMatchObject({ kind: 'lost' });
      expect(upstream.requests).toHaveLength(1);
    },
  );

  test('in time is a lost answer', async () => {
    upstream.script('hang');
    const clock = fakeClock();

    const answer = call({}, { clock, timeoutMs: LONG_MS });
    await until(() => upstream.requests.length === 1);
    await clock.advance(LONG_MS);

    expect(await answer).toEqual({ kind: 'lost', error: expect.stringMatching(/timeout/i) });
  });

  test('in time for a request that waits for a connection means that it is never sent', async () => {
    const clock = fakeClock();
    const http = upstreamHttp({ baseUrl: upstream.url, clock }, () => ({}));
    opened.push(http);
    const { signal } = new AbortController();
    const get = (path: string, timeoutMs: number): Promise<UpstreamResult> =>
      http.call({ method: 'GET', path }, timeoutMs, signal);
    upstream.script(...Array.from({ length: CONNECTIONS }, () => 'hang' as const), ok);
    const hanging = Array.from({ length: CONNECTIONS }, () => get('/hangs', 2 * LONG_MS));
    await until(() => upstream.requests.length === CONNECTIONS);
    const waiting = get('/waits', LONG_MS);
    const last = get('/last', 3 * LONG_MS);

    await clock.advance(LONG_MS);
    expect(await waiting).toEqual({ kind: 'lost', error: expect.stringMatching(/timeout/i) });
    await clock.advance(LONG_MS);
    await Promise.all(hanging);
    await last;

    expect(upstream.requests.map(({ path }) => path)).not.toContain('/waits');
  });

  test('for a caller that left is a lost answer', async () => {
    upstream.script('hang');

    expect(await call({}, { signal: AbortSignal.abort() })).toMatchObject({ kind: 'lost' });
  });

  test.each([
    ['no server listens', 'http://127.0.0.1:1'],
    ['the name does not exist', 'http://upstream.invalid'],
  ])('because %s means that nothing was sent', async (_why, origin) => {
    expect(await call({}, { origin })).toMatchObject({ kind: 'unreachable' });
  });
});

describe('an answer that the upstream compresses unasked', () => {
  let server: Server;
  const encodings: Readonly<Record<string, (text: string) => Buffer>> = {
    gzip: (text) => gzipSync(text),
    deflate: (text) => deflateSync(text),
    br: (text) => brotliCompressSync(text),
    zstd: (text) => zstdCompressSync(text),
  };

  beforeAll(async () => {
    server = createServer(({ url = '' }, response) => {
      const [, encoding = '', length = '0'] = url.split('/');
      const text = JSON.stringify({ id: 'work-1', more: 'x'.repeat(Number(length)) });
      const body = encodings[encoding]?.(text) ?? Buffer.from('no gzip');
      response.writeHead(200, { 'content-encoding': encoding === 'broken' ? 'gzip' : encoding }).end(body);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => {
    server.close();
  });

  const get = (path: string): Promise<UpstreamResult> =>
    call({ method: 'GET', path }, { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });

  test.each(Object.keys(encodings))('is unpacked: %s', async (encoding) => {
    expect(await get(`/${encoding}/10`)).toMatchObject({ kind: 'answer', status: 200, body: { id: 'work-1' } });
    expect(await get(`/${encoding}/200000`)).toMatchObject({ kind: 'answer', body: { id: 'work-1', more: CUT_TEXT } });
  });

  test('is no answer if it cannot be unpacked', async () => {
    expect(await get('/broken')).toMatchObject({ kind: 'lost' });
  });
});
