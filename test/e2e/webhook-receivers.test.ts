import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { until } from '@reelgate/platform/testing/until';
import { startSandbox } from '../../deploy/local/sandbox/sandbox.ts';
import type { Sandbox } from '../../deploy/local/sandbox/sandbox.ts';
import { httpCaller } from '../harness/client.ts';
import { freePorts } from '../harness/free-ports.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { KEYS, UPSTREAM_KEY } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';
import { goToolchain, pythonWith } from '../harness/toolchains.ts';
import type { Toolchain } from '../harness/toolchains.ts';

const EXAMPLES = path.join(import.meta.dirname, '../../deploy/examples');
const VIDEO = readFileSync(path.join(import.meta.dirname, '../../services/media/testing/fixtures/768p.mp4'));
const START_TIMEOUT_MS = 120_000;
/** Includes the build of a receiver. */
const RUN_TIMEOUT_MS = 240_000;
const HEARD_MS_MAX = 60_000;
const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-receivers-'));
const ports = await freePorts(3);

let sandbox: Sandbox;
let program: Program;

beforeAll(async () => {
  sandbox = await startSandbox({ listen: '127.0.0.1:0', key: UPSTREAM_KEY, render: async () => VIDEO });
  const allow = ports.map((port) => `127.0.0.1:${port}`);
  program = await newProgram(
    'one program',
    { upstream: new URL(sandbox.url).host },
    (config) => ({ ...config, webhooks: { allow } }) as TestConfig,
  );
  await program.start();
}, START_TIMEOUT_MS);
afterAll(async () => {
  await program?.end();
  await sandbox?.stop();
  rmSync(folder, { recursive: true, force: true });
}, START_TIMEOUT_MS);

interface Receiver {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd?: string;
}

/** Makes an endpoint and a video, and returns what the receiver printed once it has heard of the end. */
async function heardBy({ file, args, cwd = folder }: Receiver, port: number): Promise<{ out: string; id: string }> {
  const client = httpCaller(program.base, KEYS.demo);
  const { json: endpoint } = await client.call('POST', '/v1/webhook_endpoints', {
    name: 'the example',
    url: `http://127.0.0.1:${port}/reelgate`,
    event_types: ['video.completed'],
  });
  let out = '';
  let receiver: ChildProcess | undefined;
  try {
    receiver = spawn(file, args, {
      cwd,
      env: { ...process.env, NODE_OPTIONS: '', PORT: String(port), REELGATE_WEBHOOK_SECRET: endpoint.signing_secret },
      // a compiled program is a child of its tool, so the whole group is ended
      detached: true,
    });
    receiver.stdout?.on('data', (text) => (out += String(text)));
    receiver.stderr?.on('data', (text) => (out += String(text)));
    await until(async () => out.includes(`listening on port ${port}\n`), RUN_TIMEOUT_MS);
    const unsigned = await fetch(`http://127.0.0.1:${port}/reelgate`, { method: 'POST', body: '{}' });
    expect(unsigned.status).toBe(400);
    const id = await client.create('/v1/videos', { model: 'Alpha-H3', prompt: 'a red boat', seconds: '5' });
    await until(async () => out.includes(id), HEARD_MS_MAX);
    await client.call('DELETE', `/v1/webhook_endpoints/${String(endpoint.id)}`);
    return { out, id };
  } finally {
    if (receiver?.pid !== undefined) process.kill(-receiver.pid, 'SIGKILL');
  }
}

test(
  'the receiver in JavaScript refuses what is not signed and hears the end of a video',
  async () => {
    const { out, id } = await heardBy(
      { file: process.execPath, args: [path.join(EXAMPLES, 'webhooks/receiver.mjs')] },
      ports[0]!,
    );
    expect(out).toContain(`video.completed ${id}\n`);
  },
  RUN_TIMEOUT_MS,
);

/** A test that is skipped with a message if the machine does not have the toolchain. */
function testWith(toolchain: Toolchain, title: string, body: (file: string) => Promise<void>): void {
  if ('missing' in toolchain) {
    process.stderr.write(`skipped: ${title}: ${toolchain.missing}\n`);
    test.skip(title, () => undefined);
  } else test(title, async () => body(toolchain.file), RUN_TIMEOUT_MS);
}

/** Each call of the Python SDK that manages endpoints; it prints what the test expects. */
const MANAGE = `
from openai import NotFoundError, OpenAI
client = OpenAI()
print(client.webhooks.event_types.list().data)
made = [client.webhooks.create(name=f"n{i}", url="https://example.com/h", event_types=["video.completed"]) for i in range(3)]
print([one.name for one in client.webhooks.list(limit=2)])
first = made[0]
print(first.signing_secret[:6], client.webhooks.retrieve(first.id).signing_secret_hint == first.signing_secret_hint)
rotated = client.webhooks.rotate_secret(first.id, keep_old_secret_active_for_24_hours=True)
print(rotated.signing_secret != first.signing_secret)
print(client.webhooks.update(first.id, name="new", event_types=["video.failed"]).event_types)
print([client.webhooks.delete(one.id).deleted for one in made])
try:
    client.webhooks.retrieve(first.id)
except NotFoundError as error:
    print(error.code)
`;

const python = await pythonWith(['openai'], [path.join(EXAMPLES, 'requirements.txt')], folder);
const go = await goToolchain(path.join(EXAMPLES, 'webhooks/go'));

describe('with a toolchain of the machine', () => {
  testWith(python, 'the receiver in Python refuses what is not signed and hears the end of a video', async (file) => {
    const { out, id } = await heardBy({ file, args: [path.join(EXAMPLES, 'webhooks/receiver.py')] }, ports[1]!);
    expect(out).toContain(`video.completed ${id}\n`);
  });

  testWith(python, 'the OpenAI SDK for Python manages endpoints', async (file) => {
    const { stdout } = await promisify(execFile)(file, ['-c', MANAGE], {
      cwd: folder,
      env: { ...process.env, OPENAI_BASE_URL: `${program.base}/v1`, OPENAI_API_KEY: KEYS.other },
      timeout: RUN_TIMEOUT_MS,
    });
    expect(stdout.trim().split('\n')).toEqual([
      "['video.completed', 'video.failed', 'job.completed', 'job.failed', " +
        "'batch.completed', 'batch.failed', 'batch.expired', 'batch.cancelled', 'balance.low']",
      "['n2', 'n1', 'n0']",
      'whsec_ True',
      'True',
      "['video.failed']",
      '[True, True, True]',
      'webhook_endpoint_not_found',
    ]);
  });

  testWith(go, 'the receiver in Go refuses what is not signed and hears the end of a video', async (file) => {
    const { out, id } = await heardBy({ file, args: ['run', '.'], cwd: path.join(EXAMPLES, 'webhooks/go') }, ports[2]!);
    expect(out).toContain(`video.completed ${id}\n`);
  });
});
