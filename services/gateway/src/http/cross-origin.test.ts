import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TASK_ID, aTask } from '../../testing/a-task.ts';
import { aRelayChannel } from '../../testing/a-relay-channel.ts';
import { startGatewayUnderTest } from '../../testing/gateway-under-test.ts';
import type { GatewayUnderTest, TestSettings } from '../../testing/gateway-under-test.ts';
import { call } from '../../testing/http-call.ts';
import type { Answer, CallOptions } from '../../testing/http-call.ts';
import { startOperatorUnderTest } from '../../testing/operator-under-test.ts';
import { events, startRelayUpstream } from '../../testing/scripted-relay-upstream.ts';
import type { RelayUpstream } from '../../testing/scripted-relay-upstream.ts';
import { openPublicPort } from './http-server.ts';

const PAGE = 'https://app.example';
const OTHER = 'https://other.example';
const CHAT = '/v1/chat/completions';
const LINK = '/ximg/obj_1.mp4?exp=1&sig=x';
const TOO_LONG = 'x'.repeat(2048);
const CHUNK = 'data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\n';
const chat = { model: 'some-model', messages: [], stream: true };

let upstream: RelayUpstream;
let under: GatewayUnderTest;
beforeAll(async () => {
  upstream = await startRelayUpstream();
  under = await start({ cors: { origins: [PAGE, 'http://localhost:5173'] } });
  under.tasks.tasks.set(`demo/${TASK_ID}`, aTask());
});
afterAll(async () => {
  await under.stop();
  await upstream.stop();
});

const start = (settings: TestSettings): Promise<GatewayUnderTest> =>
  startGatewayUnderTest({
    channels: [aRelayChannel({ base_url: upstream.url })],
    limits: { body: '1KiB' },
    ...settings,
  });
const from = (origin: string | undefined, method: string, path: string, options: CallOptions = {}, gateway = under) =>
  call(gateway.url, method, path, {
    ...options,
    headers: { ...(origin === undefined ? {} : { origin }), ...options.headers },
  });
const preflight = (
  path: string,
  { origin = PAGE, method = 'POST', ask = 'authorization,content-type' } = {},
  gateway = under,
): Promise<Answer> =>
  call(gateway.url, 'OPTIONS', path, {
    token: null,
    headers: { origin, 'access-control-request-method': method, 'access-control-request-headers': ask },
  });
/** The permissions of an answer. */
const permitted = ({ headers }: Answer) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control-')));
const allowed = ({ headers }: Answer) => headers['access-control-allow-origin'];

describe('a page of a listed origin', () => {
  test.each([
    CHAT,
    '/v1/videos',
    '/v1/messages',
    '/v1beta/models/x:generateContent',
    '/mcp',
    '/async/v1/rerank',
    '/no',
  ])('asks before a call of %s, and the answer needs no token, no limit and no service', async (path) => {
    const answer = await preflight(path);

    expect([answer.status, answer.text, answer.headers['vary']]).toEqual([204, '', 'Origin']);
    expect(permitted(answer)).toEqual({
      'access-control-allow-origin': PAGE,
      'access-control-allow-methods': 'GET, HEAD, POST, DELETE',
      'access-control-allow-headers': 'authorization,content-type',
      'access-control-max-age': '7200',
    });
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('x-'))).toEqual([]);
  });
  test.each([
    'authorization,content-type,x-api-key,x-goog-api-key,api-key,idempotency-key,prefer,range,reelgate-label',
    'anthropic-version,anthropic-dangerous-direct-browser-access,openai-beta,x-stainless-lang,x-stainless-retry-count',
    'mcp-protocol-version,mcp-session-id,mcp-method,last-event-id,traceparent,x-my-own',
  ])('may send what clients send: %s', async (ask) => {
    expect((await preflight(CHAT, { ask })).headers['access-control-allow-headers']).toBe(ask);
  });
  test('is not allowed what is no name of a header', async () => {
    const answer = await preflight(CHAT, { ask: 'x-a: b' });

    expect([answer.status, answer.headers['access-control-allow-headers']]).toEqual([204, undefined]);
  });
  test.each<[string, () => Promise<Answer>, number]>([
    ['a success', () => from(PAGE, 'GET', '/v1/models'), 200],
    ['a read of a task', () => from(PAGE, 'GET', `/v1/videos/${TASK_ID}`), 200],
    ['a link', () => from(PAGE, 'GET', LINK, { token: null }), 200],
    ['a missing token', () => from(PAGE, 'GET', '/v1/models', { token: null }), 401],
    ['an unknown model', () => from(PAGE, 'POST', CHAT, { body: { model: 'none' } }), 404],
    ['an unknown route', () => from(PAGE, 'GET', '/v1/nothing'), 404],
    ['a wrong method', () => from(PAGE, 'PUT', CHAT), 405],
    ['a body that is too long', () => from(PAGE, 'POST', CHAT, { body: { model: TOO_LONG } }), 413],
    [
      'a failure of ours',
      () => {
        under.tasks.refuse('listTasks', new Error('broken'));
        return from(PAGE, 'GET', '/v1/videos');
      },
      500,
    ],
  ])('reads %s with the headers that clients read', async (_, ask, status) => {
    const answer = await ask();

    expect([answer.status, answer.headers['vary'], allowed(answer)]).toEqual([status, 'Origin', PAGE]);
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
    expect(listHidden(answer)).toEqual([]);
  });
  test('reads a refusal by a limit', async () => {
    const limited = await start({ cors: { origins: [PAGE] }, limits: { reads_per_minute: 1 } });
    try {
      await from(PAGE, 'GET', '/v1/models', {}, limited);
      const answer = await from(PAGE, 'GET', '/v1/models', {}, limited);

      expect([answer.status, allowed(answer)]).toEqual([429, PAGE]);
      expect(answer.headers['access-control-expose-headers']).toContain('retry-after');
      expect((await preflight('/v1/models', {}, limited)).status).toBe(204);
    } finally {
      await limited.stop();
    }
  });
  test('reads a stream, and no permission of the upstream comes through', async () => {
    upstream.seen.length = 0;
    upstream.reply = events([CHUNK, 'data: [DONE]\n\n'], {
      'access-control-allow-origin': OTHER,
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': 'x-secret',
      'cross-origin-resource-policy': 'same-origin',
      vary: 'accept-encoding',
    });
    const answer = await from(PAGE, 'POST', CHAT, {
      body: chat,
      headers: { referer: `${PAGE}/secret`, 'sec-fetch-mode': 'cors' },
    });

    expect([answer.status, answer.headers['content-type'], answer.headers['vary']]).toEqual([
      200,
      'text/event-stream',
      'Origin',
    ]);
    expect(Object.keys(permitted(answer)).toSorted()).toEqual([
      'access-control-allow-origin',
      'access-control-expose-headers',
    ]);
    expect([allowed(answer), listHidden(answer)]).toEqual([PAGE, []]);
    expect(JSON.stringify(upstream.seen[0]?.headers)).not.toMatch(/app\.example|sec-fetch/);
  });
  test.each([
    [PAGE, 200],
    [OTHER, 403],
  ])('may use the tools of agents: %s', async (origin, status) => {
    const answer = await from(origin, 'POST', '/mcp', {
      headers: { accept: 'application/json, text/event-stream' },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
    });

    expect([answer.status, allowed(answer)]).toEqual([status, status === 200 ? PAGE : undefined]);
  });
  test('is answered while the gateway starts', async () => {
    const port = await openPublicPort({
      isAllowedHost: () => true,
      cors: { origins: [PAGE], links: false },
      listen: { host: '127.0.0.1', port: 0 },
      ready: async () => false,
      metrics: undefined,
      starting: (_request, response) => response.writeHead(503, { 'retry-after': '2' }).end(),
      countConnection: () => undefined,
    });
    try {
      const starting = { ...under, url: `http://127.0.0.1:${port.port}` };

      expect((await preflight(CHAT, {}, starting)).status).toBe(204);
      expect(allowed(await from(PAGE, 'POST', CHAT, {}, starting))).toBe(PAGE);
      expect(allowed(await from(PAGE, 'GET', '/healthz', {}, starting))).toBeUndefined();
    } finally {
      await port.stop();
    }
  });
});

describe('another page', () => {
  test.each([OTHER, 'null', 'http://app.example', 'https://app.example.evil', 'https://APP.example', ''])(
    'gets no permission, and a cache learns that the answer depends on the origin: %j',
    async (origin) => {
      const [read, asked, link] = [
        await from(origin, 'GET', '/v1/models'),
        await preflight(CHAT, { origin }),
        await from(origin, 'GET', LINK, { token: null }),
      ];

      expect([read, asked, link].map((answer) => [permitted(answer), answer.headers['vary']])).toEqual([
        [{}, 'Origin'],
        [{}, 'Origin'],
        [{}, 'Origin'],
      ]);
      expect(asked.status).toBe(405);
    },
  );
  test('a program without an origin gets the answer that no cache may give to a page', async () => {
    const answer = await from(undefined, 'GET', '/v1/models');

    expect([permitted(answer), answer.headers['vary']]).toEqual([{}, 'Origin']);
  });
  test.each([
    ['with a body', { 'access-control-request-method': 'POST' }, 'hello'],
    [
      'with a body of unknown length',
      { 'access-control-request-method': 'POST', 'transfer-encoding': 'chunked' },
      undefined,
    ],
    ['without the method of a request', {}, undefined],
  ])('an OPTIONS %s is no preflight, and is refused as before', async (_, headers, body) => {
    const answer = await from(PAGE, 'OPTIONS', CHAT, { token: null, headers, body });

    expect([answer.status, allowed(answer)]).toEqual([405, PAGE]);
  });
});

test.each([{}, { origins: [] }, { links: false }])('without the setting %j nothing is permitted', async (cors) => {
  const plain = await start({ cors });
  try {
    const [read, asked, link] = [
      await from(PAGE, 'GET', '/v1/models', {}, plain),
      await preflight(CHAT, {}, plain),
      await from(PAGE, 'GET', LINK, { token: null }, plain),
    ];

    expect([read, asked, link].map((answer) => [answer.status, permitted(answer), answer.headers['vary']])).toEqual([
      [200, {}, undefined],
      [405, {}, undefined],
      [200, {}, undefined],
    ]);
  } finally {
    await plain.stop();
  }
});

test('with the origin * every page may call, and a cache may give each the same answer', async () => {
  const open = await start({ cors: { origins: ['*'] } });
  try {
    const [read, asked, tools] = [
      await from('null', 'GET', '/v1/models', {}, open),
      await preflight(CHAT, { origin: OTHER }, open),
      await from(OTHER, 'POST', '/mcp', { body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } }, open),
    ];

    expect([read, asked, tools].map(allowed)).toEqual(['*', '*', '*']);
    expect([read.headers['vary'], asked.status, tools.status]).toEqual([undefined, 204, 200]);
  } finally {
    await open.stop();
  }
});

test.each([[[]], [[PAGE]]])(
  'with links: true every page may fetch links alone, beside the origins %j',
  async (origins) => {
    const open = await start({ cors: { origins, links: true } });
    try {
      const [link, head, ask, read] = [
        await from(OTHER, 'GET', LINK, { token: null, headers: { range: 'bytes=0-1' } }, open),
        await from(OTHER, 'HEAD', LINK, { token: null }, open),
        await preflight(LINK, { origin: OTHER, method: 'GET', ask: 'range' }, open),
        await from(OTHER, 'GET', '/v1/models', {}, open),
      ];

      expect([link, head, ask, read].map(allowed)).toEqual(['*', '*', '*', undefined]);
      expect([ask.status, ask.headers['access-control-allow-methods']]).toEqual([204, 'GET, HEAD']);
      expect(link.headers['access-control-expose-headers']).toContain('content-range');
    } finally {
      await open.stop();
    }
  },
);

describe('no page of another origin is permitted anything, whatever is configured', () => {
  const everything = { origins: ['*', PAGE], links: true };

  test('at the console of clients and at callbacks', async () => {
    const open = await start({ cors: everything });
    try {
      const { text } = await call(open.url, 'GET', '/metrics', { token: null });
      const routes = [...text.matchAll(/route="(\/(?:console|callbacks)[^"]*)"/g)].map(([, route = '']) => route);
      const paths = [
        ...new Set(routes),
        '/console',
        '/console/',
        '/console/nothing',
        '/callbacks/x?y=1',
        '/console?a=b',
      ];

      expect(paths.length).toBeGreaterThan(15);
      for (const path of paths) {
        const at = path.replaceAll(/[{}+]/g, '');
        const answers = [await from(PAGE, 'GET', at, {}, open), await preflight(at, {}, open)];

        expect([at, answers.map((answer) => [permitted(answer), answer.status === 204])]).toEqual([
          at,
          [
            [{}, false],
            [{}, false],
          ],
        ]);
      }
    } finally {
      await open.stop();
    }
  });
  test('at the port of operators', async () => {
    const operator = await startOperatorUnderTest({ cors: everything });
    try {
      const at = { ...under, url: operator.url };
      const answers = await Promise.all(
        ['/console', '/console/api/session', '/console/api/status'].flatMap((path) => [
          from(PAGE, 'GET', path, {}, at),
          preflight(path, {}, at),
        ]),
      );

      expect(answers.map(permitted)).toEqual(answers.map(() => ({})));
    } finally {
      await operator.stop();
    }
  });
});

/** Headers that a browser shows to every page, and those that are for the browser or the connection. */
const NOT_FOR_PAGES = [
  ...['cache-control', 'content-language', 'content-length', 'content-type', 'expires', 'last-modified', 'pragma'],
  ...['connection', 'date', 'keep-alive', 'transfer-encoding', 'vary', 'x-accel-buffering', 'x-content-type-options'],
];

/** Lists the headers of an answer that its page cannot read. */
function listHidden(answer: Answer): readonly string[] {
  const exposed = new Set(String(answer.headers['access-control-expose-headers']).split(', '));
  return Object.keys(answer.headers).filter(
    (name) => !exposed.has(name) && !NOT_FOR_PAGES.includes(name) && !name.startsWith('access-control-'),
  );
}
