import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { httpCaller } from '../harness/client.ts';
import type { HttpCaller } from '../harness/client.ts';
import { defaultConfigIn, start, stop } from './default-program.ts';

const TIMEOUT_MS = 240_000;
const SOON_MS = 60_000;

interface SandboxWork {
  readonly id: string;
  readonly status: string;
}

let dir: string;
let config: string;
let child: ChildProcess;
let base: string;
let token: string;
let caller: HttpCaller;
let sandbox: string;

beforeAll(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'reelgate-sandbox-kills-'));
  config = await defaultConfigIn(dir);
  [, sandbox = ''] = /^sandbox: \{ listen: (\S+) \}$/m.exec(readFileSync(config, 'utf8')) ?? [];
  const first = start(config);
  child = first.child;
  const printed = await first.ready;
  [, base = ''] = /^ready: (\S+)$/m.exec(printed) ?? [];
  [, token = ''] = /^token: (rg_\S+)$/m.exec(printed) ?? [];
  caller = httpCaller(base, token);
}, TIMEOUT_MS);
afterAll(async () => {
  if (child.exitCode === null && child.signalCode === null) await stop(child, 'SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

async function killAndStart(): Promise<void> {
  await stop(child, 'SIGKILL');
  const next = start(config);
  child = next.child;
  await next.ready;
}

const aVideo = (prompt: string): object => ({ model: 'Alpha-H3', prompt, seconds: '4', size: '1280x720' });
const post = (prompt: string, key: string): ReturnType<HttpCaller['call']> =>
  caller.call('POST', '/v1/videos', aVideo(prompt), { 'idempotency-key': key.replaceAll(' ', '-') });

/** The work that the sandbox has, newest first. */
async function workOf(): Promise<readonly SandboxWork[]> {
  const listed = await fetch(`http://${sandbox}/v2/query/video_generation?page_size=100`, {
    headers: { authorization: 'Bearer sandbox' },
  });
  return ((await listed.json()) as { items: readonly SandboxWork[] }).items;
}

/** Each makes one video and resolves at the moment of the kill. */
const MOMENTS: readonly (readonly [
  moment: string,
  prompt: string,
  reach: (key: string, prompt: string) => Promise<void>,
])[] = [
  [
    'as soon as the create is answered',
    'a red boat',
    async (key, prompt) => {
      expect((await post(prompt, key)).status).toBe(200);
    },
  ],
  [
    'when the upstream has the work and has not answered',
    'a green boat [late:1h]',
    async (key, prompt) => {
      const { length } = await workOf();
      void post(prompt, key).catch(() => undefined);
      await until(async () => (await workOf()).length > length, SOON_MS);
    },
  ],
  [
    'while the video is made',
    'a blue boat [slow:5s]',
    async (key, prompt) => {
      await post(prompt, key);
      await until(async () => (await workOf())[0]?.status === 'running', SOON_MS);
    },
  ],
  [
    'when the upstream has succeeded',
    'a white boat',
    async (key, prompt) => {
      await post(prompt, key);
      await until(async () => (await workOf())[0]?.status === 'succeeded', SOON_MS);
    },
  ],
  [
    'when the client has seen the end',
    'a black boat',
    async (key, prompt) => {
      await caller.finish((await post(prompt, key)).json.task_id);
    },
  ],
];

test(
  'after a kill -9 at any moment each video is made once, can be fetched and is charged once',
  async () => {
    const ends: unknown[] = [];
    for (const [moment, prompt, reach] of MOMENTS) {
      await reach(moment, prompt);
      await killAndStart();
      const { status, json } = await post(prompt, moment);
      await caller.finish(json.task_id);
      const content = await fetch(`${base}/v1/videos/${json.task_id}/content`, {
        headers: { authorization: `Bearer ${token}` },
      });
      const head = Buffer.from(await content.arrayBuffer()).subarray(4, 8);
      ends.push([moment, status, content.status, head.toString()]);
    }

    expect(ends).toEqual(MOMENTS.map(([moment]) => [moment, 200, 200, 'ftyp']));
    expect((await workOf()).map(({ status }) => status)).toEqual(MOMENTS.map(() => 'succeeded'));
    expect((await caller.call('GET', '/v1/usage')).json).toMatchObject({
      total: { requests: MOMENTS.length, amount: '1.6' },
    });
  },
  TIMEOUT_MS,
);
