import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startSandbox } from '../../deploy/local/sandbox/sandbox.ts';
import type { Sandbox } from '../../deploy/local/sandbox/sandbox.ts';
import { goToolchain, pythonWith } from '../harness/toolchains.ts';
import type { Toolchain } from '../harness/toolchains.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { KEYS, UPSTREAM_KEY, callerKey } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const EXAMPLES = path.join(ROOT, 'deploy/examples');
const VIDEO = readFileSync(path.join(ROOT, 'services/media/testing/fixtures/768p.mp4'));
const START_TIMEOUT_MS = 60_000;
/** Includes the build of an example. */
const RUN_TIMEOUT_MS = 240_000;
const OUTPUT_BYTES_MAX = 1024 * 1024;

let sandbox: Sandbox;
let program: Program;
const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-examples-'));

const withChat =
  (upstream: string) =>
  (config: TestConfig): TestConfig =>
    ({
      ...config,
      channels: [
        ...config.channels,
        {
          id: 'chat',
          adapter: 'relay',
          base_url: `http://${upstream}`,
          api_key: UPSTREAM_KEY,
          endpoints: ['chat'],
          models: { 'sandbox-chat': 'echo-1' },
        },
      ],
      prices: { ...config.prices, 'sandbox-chat': { per_million_tokens: { input: '1', output: '1' }, hold: '0.05' } },
    }) as TestConfig;

beforeAll(async () => {
  sandbox = await startSandbox({ listen: '127.0.0.1:0', key: UPSTREAM_KEY, render: async () => VIDEO });
  const upstream = new URL(sandbox.url).host;
  program = await newProgram('one program', { upstream }, withChat(upstream));
  await program.start();
}, START_TIMEOUT_MS);
afterAll(async () => {
  await program?.end();
  await sandbox?.stop();
  rmSync(folder, { recursive: true, force: true });
}, START_TIMEOUT_MS);

interface Run {
  readonly cwd?: string;
  /** A folder that comes first in the PATH. */
  readonly path?: string | undefined;
}

/** The output of a command. A command with another exit code than 0 throws an error with its output. */
function run(file: string, args: readonly string[], { cwd = folder, path: front }: Run = {}): Promise<string> {
  const environment = {
    ...process.env,
    NODE_OPTIONS: '',
    PATH: [front, process.env['PATH']].filter((part) => part !== undefined).join(path.delimiter),
    REELGATE_URL: program.base,
    REELGATE_API_KEY: KEYS.demo,
    REELGATE_CALLER_KEY: callerKey('pipeline'),
    REELGATE_TASKS: program.config.tasks.listen,
    REELGATE_BILLING: program.config.billing.listen,
  };
  return new Promise((resolve, reject) => {
    execFile(
      file,
      args,
      { cwd, env: environment, timeout: RUN_TIMEOUT_MS, maxBuffer: OUTPUT_BYTES_MAX },
      (error, out, err) => {
        if (error === null) resolve(out);
        else reject(new Error(`${path.basename(file)} ended with ${String(error.code)}: ${out}${err}`));
      },
    );
  });
}

/** Runs an example in a folder of its own. Returns its output and its files. */
async function savedBy(name: string, file: string, args: readonly string[]): Promise<{ out: string; saved: Buffer }> {
  const cwd = mkdtempSync(path.join(folder, `${name}-`));
  const out = await run(file, args, { cwd });
  return { out, saved: readFileSync(path.join(cwd, 'boat.mp4')) };
}

const COMPLETED = /^task_\w+ is completed: 1344 x 768, \d+ bytes$/m;

test(
  'curl makes a video, waits for it and saves it',
  async () => {
    const { out, saved } = await savedBy('curl', 'bash', [path.join(EXAMPLES, 'curl.sh')]);
    expect(out).toMatch(/is completed\nsaved boat\.mp4\n$/);
    expect(saved.equals(VIDEO)).toBe(true);
  },
  RUN_TIMEOUT_MS,
);

test(
  'the OpenAI SDK for JavaScript makes a video, waits for it and saves it',
  async () => {
    const { out, saved } = await savedBy('openai', process.execPath, [path.join(EXAMPLES, 'openai-sdk.mjs')]);
    expect(out).toMatch(/is completed, 100 %\nsaved boat\.mp4\n$/);
    expect(saved.equals(VIDEO)).toBe(true);
  },
  RUN_TIMEOUT_MS,
);

test(
  'the Vercel AI SDK streams a chat and reports its usage',
  async () => {
    const out = await run(process.execPath, [path.join(EXAMPLES, 'vercel-ai-sdk.mjs')]);
    expect(out).toMatch(/red boat[^]*\n[1-9]\d* tokens read, [1-9]\d* written\n$/);
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

const python = await pythonWith(
  ['openai', 'grpc', 'grpc_tools'],
  [path.join(EXAMPLES, 'requirements.txt'), path.join(EXAMPLES, 'grpc-python/requirements.txt')],
  folder,
);
const go = await goToolchain(path.join(EXAMPLES, 'grpc-go'));

describe('with a toolchain of the machine', () => {
  testWith(python, 'the OpenAI SDK for Python makes a video, polls it and saves it', async (file) => {
    const { out, saved } = await savedBy('python', file, [path.join(EXAMPLES, 'openai-sdk.py')]);
    expect(out).toMatch(/^task_\w+ is completed, saved boat\.mp4\n$/);
    expect(saved.equals(VIDEO)).toBe(true);
  });

  testWith(python, 'Python generates its code from the contracts and makes a video over gRPC', async (file) => {
    const cwd = path.join(folder, 'grpc-python');
    cpSync(path.join(EXAMPLES, 'grpc-python'), cwd, { recursive: true });
    const protos = globSync('reelgate/**/*.proto', { cwd: path.join(ROOT, 'proto') });
    const proto = path.join(ROOT, 'proto');
    await run(file, ['-m', 'grpc_tools.protoc', '-I', proto, '--python_out=.', '--grpc_python_out=.', ...protos], {
      cwd,
    });
    expect(await run(file, ['main.py'], { cwd })).toMatch(COMPLETED);
  });

  testWith(go, 'Go generates its code from the contracts and makes a video over gRPC', async (file) => {
    const cwd = path.join(folder, 'grpc-go');
    cpSync(path.join(EXAMPLES, 'grpc-go'), cwd, { recursive: true });
    const front = path.isAbsolute(file) ? path.dirname(file) : undefined;
    const buf = path.join(ROOT, 'node_modules/.bin/buf');
    await run(buf, ['generate', path.join(ROOT, 'proto')], { cwd, path: front });
    expect(await run(file, ['run', '.'], { cwd, path: front })).toMatch(COMPLETED);
  });
});
