import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { httpCaller } from '../harness/client.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import type { TestConfig } from '../harness/test-config.ts';
import { KEYS, SIGNING_KEY } from '../harness/test-config.ts';

const EXAMPLE = path.join(import.meta.dirname, '../../services/tasks/adapter-kit/example');
const TIMEOUT_MS = 120_000;
const CALLS = 10;
/** A loop of the engine's own code, which only the end of its thread ends. */
const NEVER = '[].indexOf.call({ length: 2 ** 53 - 1 }, 1)';
/** What an adapter sends of all that it can find. */
const REACH = `(() => {
  const found = [];
  const add = (value) => found.push(String(value));
  for (const name of ['process', 'require', 'fetch', 'WebAssembly', 'Atomics'])
    add((() => {}).constructor('return typeof ' + name)());
  add(\`\${(globalThis.got = import('node:fs'), typeof globalThis.got.readFileSync)}\`);
  return found.join(' ');
})()`;

const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-hostile-adapter-'));
const adapter = path.join(folder, 'borealis.ts');
let upstream: Upstream;
let program: Program;

interface Upstream {
  readonly host: string;
  /** The prompts of the orders that have come. */
  readonly prompts: readonly string[];
  close(): Promise<void>;
}

/** A server of two APIs, that of the example and that of `alpha-v2`. Their work never ends. */
async function openUpstream(): Promise<Upstream> {
  const prompts: string[] = [];
  const server = http.createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => void parts.push(part));
    request.on('end', () => {
      const { method, url = '' } = request;
      const { prompt = '' } = JSON.parse(Buffer.concat(parts).toString() || '{}') as { readonly prompt?: string };
      if (url === '/v2/renders') prompts.push(prompt);
      const ids = { render: `r-${prompts.length}`, task_id: `4${Date.now()}${Math.random()}`.replace('.', '') };
      const body = method === 'POST' ? ids : { state: 'working', task: { status: 'running' } };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    prompts,
    close: async () => {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}

beforeAll(async () => {
  cpSync(EXAMPLE, folder, { recursive: true });
  const hostile = readFileSync(adapter, 'utf8')
    .replace(
      'prompt: kit.joinTexts(content)',
      `prompt: kit.joinTexts(content) === 'reach' ? ${REACH} : kit.joinTexts(content)`,
    )
    .replace('const unfit =', `if (kit.joinTexts(attempt.content) === 'never build') ${NEVER};\n        const unfit =`)
    .replace(
      'readSubmit: (answer) =>',
      `readSubmit: (answer, attempt) => (kit.joinTexts(attempt.content) === 'never read' ? ${NEVER} : undefined,`,
    )
    .replace('table: {},\n        }),', 'table: {},\n        })),');
  writeFileSync(adapter, hostile);
  upstream = await openUpstream();
  program = await newProgram(
    'one program',
    { upstream: upstream.host },
    (config) =>
      ({
        ...config,
        adapters: [adapter],
        channels: config.channels.flatMap((channel) => [
          { ...channel, endpoints: ['video.generation'], models: { 'Beta-V1': 'up' } },
          {
            ...channel,
            id: 'own',
            adapter: 'borealis',
            endpoints: ['video.generation'],
            reconcile: 'none',
            timeouts: { submit: '5s', poll: '5s' },
            models: { 'Alpha-H3': 'up' },
          },
        ]),
        prices: { ...config.prices, 'Beta-V1': { per_second: '0.01' } },
      }) as TestConfig,
  );
  expect(await program.command('adapter', 'test', adapter)).toMatchObject({ code: 0, json: { ok: true } });
  await program.start();
}, TIMEOUT_MS);
afterAll(async () => {
  await program?.end();
  await upstream?.close();
  rmSync(folder, { recursive: true });
}, TIMEOUT_MS);

const order = (model: string, text: string): object => ({
  model,
  content: [{ type: 'text', text }],
  duration: 5,
  resolution: '768P',
  ratio: '16:9',
});

/** Makes an order, which may be refused. */
function send(key: string, text: string): Promise<Response> {
  return fetch(`${program.base}/v2/video_generation`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(order('Alpha-H3', text)),
  });
}

test(
  'an adapter that reaches for the process sends what it has found, which is nothing',
  async () => {
    await httpCaller(program.base, KEYS.demo).create('/v2/video_generation', order('Alpha-H3', 'reach'));

    const [sent] = upstream.prompts;
    expect(sent).toBe('undefined undefined undefined undefined undefined undefined');
    expect(JSON.stringify(upstream.prompts)).not.toContain(SIGNING_KEY);
  },
  TIMEOUT_MS,
);

test(
  'while orders never end in an adapter, other channels take orders, and its own takes those of others',
  async () => {
    let ended = 0;
    const stuck = [1, 2, 3].map(async () => {
      await send(KEYS.demo, 'never build');
      ended += 1;
    });
    const other = httpCaller(program.base, KEYS.other);

    for (let call = 0; call < CALLS; call += 1) await other.create('/v2/video_generation', order('Beta-V1', 'a fox'));
    expect(ended).toBeLessThan(stuck.length);
    await other.create('/v2/video_generation', order('Alpha-H3', 'a fox behind them'));

    await Promise.all(stuck);
    expect(upstream.prompts).toContain('a fox behind them');
    expect(upstream.prompts).not.toContain('never build');
  },
  TIMEOUT_MS,
);

test(
  'an order whose answer the adapter never reads is sent once',
  async () => {
    const answer = await send(KEYS.other, 'never read');
    expect(answer.status).toBe(200);
    await httpCaller(program.base, KEYS.other).create('/v2/video_generation', order('Alpha-H3', 'the last'));

    expect(upstream.prompts.filter((prompt) => prompt === 'never read')).toHaveLength(1);
  },
  TIMEOUT_MS,
);
