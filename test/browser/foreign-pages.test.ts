import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startSandbox } from '../../deploy/local/sandbox/sandbox.ts';
import type { Sandbox } from '../../deploy/local/sandbox/sandbox.ts';
import { freePorts } from '../harness/free-ports.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { KEYS, UPSTREAM_KEY } from '../harness/test-config.ts';
import { startBrowser } from './browser.ts';
import { describeInBrowser } from './describe-in-browser.ts';

const START_TIMEOUT_MS = 180_000;
const RELAY = {
  id: 'relay-of-the-test',
  adapter: 'relay',
  api_key: UPSTREAM_KEY,
  endpoints: ['chat'],
  models: { 'sandbox-chat': 'echo-1' },
};
const VIDEO = { model: 'Alpha-H3', prompt: 'a red boat at dawn', seconds: '4', size: '1280x720' };

/** What a page runs, as text, because the tests have no types of a browser. `call` is what programs of a page do. */
const SCRIPT = (base: string): string => `
  const base = ${JSON.stringify(base)};
  const call = (path, { headers, ...more } = {}) =>
    fetch(base + path, { ...more, headers: { authorization: 'Bearer ${KEYS.demo}', ...headers } });
  const post = (path, body, headers) => call(path, {
    method: 'POST', body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', 'x-stainless-lang': 'js', ...headers },
  });
  /** What a page learns of an answer; a refusal by the browser is an error without a word. */
  const tell = async (asking) => {
    try {
      const answer = await asking();
      return { status: answer.status, text: await answer.text() };
    } catch (error) {
      return { status: 0, text: error.name };
    }
  };
`;

/** A server of one empty page, under an origin of its own. */
async function startPage(): Promise<{ readonly origin: string; stop(): void }> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>a page</title>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, stop: () => server.close().closeAllConnections() };
}

type Page = Awaited<ReturnType<typeof startPage>>;
interface Told {
  readonly status: number;
  readonly text: string;
}

describeInBrowser('a page of another origin', () => {
  let listed: Page;
  let unlisted: Page;
  let sandbox: Sandbox;
  let program: Program;
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  beforeAll(async () => {
    [listed, unlisted] = [await startPage(), await startPage()];
    const [port = 0] = await freePorts(1);
    const upstream = `127.0.0.1:${port}`;
    sandbox = await startSandbox({ listen: upstream, key: UPSTREAM_KEY });
    program = await newProgram('one program', { upstream }, (config) => ({
      ...config,
      gateway: { ...config.gateway, cors: { origins: [listed.origin], links: true } },
      channels: [...config.channels, { ...RELAY, base_url: `http://${upstream}` }] as typeof config.channels,
      prices: {
        ...config.prices,
        'sandbox-chat': { per_million_tokens: { input: '0.50', output: '1.50' }, hold: '0.05' },
      },
    }));
    await program.start();
    browser = await startBrowser();
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    await browser?.stop();
    await program?.end();
    await sandbox?.stop();
    listed.stop();
    unlisted.stop();
  }, START_TIMEOUT_MS);

  /** Runs a script in a page of this origin, with the tools of `SCRIPT`. */
  const run = async <T>({ origin }: Page, script: string): Promise<T> => {
    const { page, close } = await browser.visit({ origin });
    try {
      await page.goto(origin);
      return await page.evaluate<T>(`(async () => { ${SCRIPT(program.base)} ${script} })()`);
    } finally {
      await close();
    }
  };

  test('calls a chat as a stream, and reads its headers and refusals', async () => {
    const told = await run<Record<string, unknown>>(
      listed,
      `
        const answer = await post('/v1/chat/completions', {
          model: 'sandbox-chat', stream: true, messages: [{ role: 'user', content: 'hello page' }],
        });
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        let text = '';
        for (let next = await reader.read(); !next.done; next = await reader.read()) text += next.value;
        const refused = await post('/v1/chat/completions', { model: 'none', messages: [] });
        const unknown = await call('/v1/models', { headers: { authorization: 'Bearer sk-nobody-0123456789' } });
        const queued = await post('/async/v1/chat/completions', {
          model: 'sandbox-chat', messages: [{ role: 'user', content: 'hello' }],
        });
        return {
          text,
          queued: [queued.status, ...['openai-poll-after-ms', 'retry-after'].map((name) => queued.headers.get(name))],
          readable: ['x-request-id', 'x-ratelimit-remaining'].map((name) => answer.headers.get(name) !== null),
          refused: [refused.status, (await refused.json()).error.code],
          unknown: [unknown.status, unknown.headers.get('www-authenticate')],
        };`,
    );

    expect(told).toMatchObject({
      text: expect.stringMatching(/"content":[^]*data: \[DONE\]/),
      readable: [true, true],
      queued: [202, '2000', '2'],
      refused: [404, 'model_not_found'],
      unknown: [401, 'Bearer'],
    });
  });

  test('creates a video, polls it, fetches a range of its link, and paints its frame into a canvas', async () => {
    const told = await run<Record<string, unknown>>(
      listed,
      `
        const create = () => post('/v1/video/generations', ${JSON.stringify({ model: VIDEO.model, prompt: VIDEO.prompt, duration: 4 })}, { 'idempotency-key': 'page-1' });
        const created = await create();
        const { task_id: id } = await created.json();
        const again = await create();
        let url;
        while (url === undefined) {
          const read = await call('/v1/video/generations/' + id, { headers: { prefer: 'wait=20' } });
          ({ url } = await read.json());
        }
        const part = await fetch(url, { headers: { range: 'bytes=0-9' } });
        const video = Object.assign(document.createElement('video'), { crossOrigin: 'anonymous', muted: true, src: url });
        await new Promise((resolve, reject) => {
          video.onloadeddata = resolve;
          video.onerror = () => reject(new Error('the video did not load'));
        });
        const canvas = document.createElement('canvas');
        canvas.getContext('2d').drawImage(video, 0, 0);
        return {
          created: created.status,
          replayed: again.headers.get('idempotent-replayed'),
          part: [part.status, (await part.arrayBuffer()).byteLength, part.headers.get('content-range').slice(0, 10)],
          painted: canvas.toDataURL().slice(0, 15),
          url,
        };`,
    );

    expect(told).toMatchObject({
      created: 200,
      replayed: 'true',
      part: [206, 10, 'bytes 0-9/'],
      painted: 'data:image/png;',
    });
    // the same link from a page that may call nothing else
    const elsewhere = await run<Told>(
      unlisted,
      `return tell(() => fetch(${JSON.stringify(told['url'])}, { headers: { range: 'bytes=0-9' } }));`,
    );
    expect(elsewhere.status).toBe(206);
  });

  const TOOLS = `post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }, {
    accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18',
  })`;

  test('uses the tools of agents', async () => {
    const { status, text } = await run<Told>(listed, `return tell(() => ${TOOLS});`);

    expect([status, text]).toEqual([200, expect.stringContaining('video_create')]);
  });

  test.each([
    ['a list of models', `call('/v1/models')`],
    ['a chat', `post('/v1/chat/completions', { model: 'sandbox-chat', messages: [{ role: 'user', content: 'x' }] })`],
    ['a create', `post('/v1/videos', ${JSON.stringify(VIDEO)})`],
    ['the tools of agents', TOOLS],
  ])('reads nothing from an origin that is not listed: %s', async (_, asking) => {
    const before = await countTasks();

    expect(await run<Told>(unlisted, `return tell(() => ${asking});`)).toEqual({ status: 0, text: 'TypeError' });
    expect((await run<Told>(listed, `return tell(() => ${asking});`)).status).toBe(200);
    // the preflight was refused, so the call of the page was never sent
    expect(await countTasks()).toBe(before + (asking.includes('/v1/videos') ? 1 : 0));
  });

  test.each(['/console', '/console/api/session', '/console/api/home', '/metrics', '/readyz'])(
    'reads nothing at %s, of clients or of operators, whatever origins are listed',
    async (path) => {
      const operators = `http://${program.config.gateway.admin}`;
      for (const base of [program.base, operators])
        expect(
          await run<Told>(
            listed,
            `return tell(() => fetch(${JSON.stringify(base + path)}, { credentials: 'include' }));`,
          ),
        ).toEqual({ status: 0, text: 'TypeError' });
    },
  );

  const countTasks = async (): Promise<number> => {
    const answer = await fetch(`${program.base}/v1/videos?limit=100`, {
      headers: { authorization: `Bearer ${KEYS.demo}` },
    });
    return ((await answer.json()) as { readonly data: readonly unknown[] }).data.length;
  };
});
