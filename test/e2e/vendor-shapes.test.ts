import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startScriptedProgram } from '../harness/scripted-program.ts';
import type { ScriptedProgram } from '../harness/scripted-program.ts';
import type { TestConfig } from '../harness/test-config.ts';
import { readAccount, showTask } from '../harness/records.ts';

const START_TIMEOUT_MS = 120_000;
const TEST_TIMEOUT_MS = 120_000;
/** Above 2^53. */
const LARGE_ID = '9007199254740993';
const FILTERED =
  'Veo could not make 1 videos. Try rephrasing the prompt. If this is an error, contact your Google representative. ' +
  'Support codes: 29310472';
const BROKEN =
  'InternalError: the face was not found in task 42, see https://help.vendor.example or mail ai@vendor.example';
const TRAITS = /veo|google|representative|support code|29310472|internalerror|vendor|risk control/i;

let upstream: Server;
let world: ScriptedProgram;

/** A Veo whose filter stops all, a server of the videos API with other words, and a chat that is refused. */
function answer(path: string): object {
  if (path.endsWith(':predictLongRunning')) return { name: 'models/veo-x/operations/op1' };
  if (path.includes('/operations/'))
    return { done: true, name: 'op1', response: { raiMediaFilteredCount: '1', raiMediaFilteredReasons: [FILTERED] } };
  if (path.endsWith('/chat/completions')) return { error: { code: 'InternalError', message: FILTERED } };
  if (path.endsWith('/videos')) return { id: 0, status: 'PENDING' };
  return path.endsWith(LARGE_ID)
    ? { id: 0, status: 'TASK_STATUS_FAILED', fail_reason: BROKEN }
    : { error: { message: `unknown ${path}` } };
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  await text(request);
  const { pathname } = new URL(request.url ?? '/', 'http://upstream.example');
  // a number of this size can only be written as a text
  const body = JSON.stringify(answer(pathname)).replaceAll('"id":0', `"id":${LARGE_ID}`);
  const status = pathname.endsWith('/chat/completions') ? 400 : 200;
  response.writeHead(status, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(gzipSync(body));
}

beforeAll(async () => {
  upstream = createServer((request, response) => void serve(request, response)).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const base = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const video = { kind: 'video', duration: [4, 8], resolutions: ['720p'], ratios: ['16:9'], defaults: { duration: 8 } };
  const channel = { base_url: base, api_key: 'k', upstream_account: 'shapes', reconcile: 'none' };
  world = await startScriptedProgram(
    {},
    (config) =>
      ({
        ...config,
        models: { ...config.models, filtered: video, broken: video },
        channels: [
          ...config.channels,
          {
            ...{ ...channel, id: 'filters', adapter: 'gemini', endpoints: ['video.generation'] },
            models: { filtered: 'veo-3.1-generate-preview' },
          },
          {
            ...{ ...channel, id: 'words', adapter: 'openai-videos', endpoints: ['video.generation'] },
            models: { broken: 'up-1' },
          },
          {
            id: 'chats',
            adapter: 'relay',
            base_url: `${base}/v1`,
            api_key: 'k',
            endpoints: ['chat'],
            models: { chat: 'up-1' },
          },
        ],
        prices: {
          ...config.prices,
          filtered: { per_second: '0.10' },
          broken: { per_second: '0.10' },
          chat: { per_million_tokens: { input: '1', output: '1' }, hold: '0.01' },
        },
      }) as TestConfig,
  );
}, START_TIMEOUT_MS);
afterAll(async () => {
  await world?.end();
  upstream?.close();
}, START_TIMEOUT_MS);

interface EventDetail {
  readonly upstream?: { readonly code: string; readonly message: string };
}

const make = (model: string): Promise<string> =>
  world.demo.create('/v1/videos', { model, prompt: 'a cat', seconds: '8', size: '1280x720' });
const readHeld = async (): Promise<string> => (await readAccount(world.program, 'demo')).held;

async function readByAgent(id: string): Promise<string> {
  const params = { name: 'video_get', arguments: { id } };
  const accept = { accept: 'application/json, text/event-stream' };
  return (await world.demo.call('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, accept)).text;
}

test.each([
  ['filtered', 'content_rejected', 'the generator could not make 1 videos. Try rephrasing the prompt.', FILTERED],
  ['broken', 'failed', 'the face was not found in task 42, see … or mail …', BROKEN],
])(
  'the task of the model %s fails, releases its hold and names no vendor to a client, but to an operator',
  async (model, code, message, said) => {
    const id = await make(model);

    const { json } = await world.demo.finish(id, 'failed');

    expect(json).toMatchObject({ status: 'failed', error: { code, message } });
    for (const target of [`/v1/video/generations/${id}`, `/v2/query/video_generation/${id}`, '/v1/videos?limit=5'])
      expect((await world.demo.call('GET', target)).text).not.toMatch(TRAITS);
    const told = await readByAgent(id);
    expect(told).toContain(code);
    expect(told).not.toMatch(TRAITS);
    const { events } = await showTask(world.program, id);
    expect(events.map(({ detailJson }) => (JSON.parse(detailJson) as EventDetail).upstream?.message)).toContain(said);
    expect(await readHeld()).toBe('0');
  },
  TEST_TIMEOUT_MS,
);

test('the error of a relayed call names no vendor', async () => {
  const { status, text: body } = await world.demo.call('POST', '/v1/chat/completions', { model: 'chat', messages: [] });

  expect(status).toBe(400);
  expect(body).toContain('Try rephrasing the prompt.');
  expect(body).not.toMatch(TRAITS);
});
