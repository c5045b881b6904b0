import { expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { httpCaller } from '../harness/client.ts';
import { START_TIMEOUT_MS, defaultConfigIn, start, stop } from './default-program.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const TEST_TIMEOUT_MS = 120_000;
/** What an idle program may hold. Without the collection after its start it holds half as much again. */
const IDLE_MIB_MAX = 160;
const IDLE_TIMEOUT_MS = 60_000;

/** Waits until the memory of the process is below the limit. Only Linux tells the memory of another process. */
async function untilSmall({ pid }: ChildProcess): Promise<void> {
  if (process.platform !== 'linux') return;
  const memory = (): number => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
  const deadline = performance.now() + IDLE_TIMEOUT_MS;
  while (!(memory() < IDLE_MIB_MAX)) {
    if (performance.now() > deadline) throw new Error(`the idle program holds ${memory()} MiB`);
    await wait(100);
  }
}

test(
  'the default configuration starts everything, prints a token once, makes a real video, and is small when idle',
  async () => {
    const dir = mkdtempSync(path.join(tmpdir(), 'reelgate-start-'));
    const file = await defaultConfigIn(dir);
    const first = start(file);
    try {
      const printed = await first.ready;
      const [, base = ''] = /^ready: (\S+)$/m.exec(printed) ?? [];
      const [, token = ''] = /^token: (rg_\S+)$/m.exec(printed) ?? [];
      expect(printed.match(/^ {2}curl /gm)).toHaveLength(4);

      const caller = httpCaller(base, token);
      const taskId = await caller.create('/v1/videos', {
        model: 'Alpha-H3',
        prompt: 'a red boat at dawn',
        seconds: '4',
        size: '1280x720',
      });
      await caller.finish(taskId);
      const video = await fetch(`${base}/v1/videos/${taskId}/content`, {
        headers: { authorization: `Bearer ${token}` },
      });
      const bytes = Buffer.from(await video.arrayBuffer());
      expect(bytes.subarray(4, 8).toString()).toBe('ftyp');
      expect(bytes.length).toBeGreaterThan(50_000);

      const chat = await fetch(`${base}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'sandbox-chat', messages: [{ role: 'user', content: 'hello' }], stream: true }),
      });
      expect(await chat.text()).toMatch(/"model":"sandbox-chat"[^]*"hello\\"[^]*data: \[DONE\]\n\n$/);

      await stop(first.child);
      const second = start(file);
      const again = await second.ready;
      expect(again).not.toMatch(/^token:/m);
      await untilSmall(second.child);
      expect((await caller.call('GET', `/v1/videos/${taskId}`)).json).toMatchObject({ status: 'completed' });
      await stop(second.child);
    } finally {
      first.child.kill('SIGKILL');
      rmSync(dir, { recursive: true, force: true });
    }
  },
  TEST_TIMEOUT_MS,
);

test.each([
  ['an unknown key', 'gatway: {}\n', /:1: gatway: no such key; expected one of: .*gateway/],
  [
    'a wrong value',
    'gateway:\n  limits: { creates_per_minute: many }\n',
    /:2: gateway\.limits\.creates_per_minute: expected a whole number/,
  ],
  ['a bad duration', 'tasks:\n  poll:\n    max: 15 seconds\n', /:3: tasks\.poll\.max: expected a duration such as/],
  [
    'an unknown model',
    `models: {}\nchannels:\n  - { id: a, adapter: alpha-v2, base_url: "http://x", api_key: k1, upstream_account: u, ` +
      'endpoints: [video.generation], models: { Nope: n } }\n',
    /:3: channels\.0\.models\.Nope: no such model/,
  ],
  [
    'a price that no order can have',
    'prices:\n  Beta__regeneration: { per_second: "1" }\n',
    /:2: prices\.Beta__regeneration: only Alpha-H3__regeneration can be priced/,
  ],
  ['an unset variable', `signing_key: $\{SURELY_NOT_SET_ANYWHERE}\n`, /:1: \$\{SURELY_NOT_SET_ANYWHERE\} is not set/],
  ['no YAML', 'gateway: {\n', /not YAML/],
])(
  '%s stops the start with the file, the line, the key and what was expected',
  async (_name, text, expected) => {
    const dir = mkdtempSync(path.join(tmpdir(), 'reelgate-config-'));
    const file = path.join(dir, 'bad.yaml');
    writeFileSync(file, text);
    const { code, err } = await new Promise<{ code: unknown; err: string }>((resolve) => {
      execFile(
        process.execPath,
        ['--disable-warning=ExperimentalWarning', path.join(ROOT, 'deploy/program/main.ts')],
        { env: { ...process.env, NODE_OPTIONS: '', REELGATE_CONFIG: file }, timeout: START_TIMEOUT_MS },
        (error, _out, stderr) => {
          resolve({ code: error?.code, err: stderr });
        },
      );
    });
    rmSync(dir, { recursive: true, force: true });
    expect(code).toBe(1);
    expect(err).toContain(file);
    expect(err).toMatch(expected);
  },
  START_TIMEOUT_MS,
);
