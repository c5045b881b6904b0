import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startSandbox } from '../../deploy/local/sandbox/sandbox.ts';
import type { Sandbox } from '../../deploy/local/sandbox/sandbox.ts';
import { openCuttableLine } from '../harness/cuttable-line.ts';
import type { CuttableLine } from '../harness/cuttable-line.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { UPSTREAM_KEY } from '../harness/test-config.ts';
import { goToolchain, programOfPath, pythonWith } from '../harness/toolchains.ts';
import type { Toolchain } from '../harness/toolchains.ts';
import { EXAMPLES, MODULES, PROGRAMS, PROTO, RUN_TIMEOUT_MS, environmentFor, runExample } from './example-runs.ts';
import type { Run } from './example-runs.ts';

const VIDEO = readFileSync(path.join(import.meta.dirname, '../../services/media/testing/fixtures/768p.mp4'));
const START_TIMEOUT_MS = 60_000;
const SOON_MS = 120_000;
const PROMPT = 'a red boat at dawn';

let sandbox: Sandbox;
let program: Program;
/** The ways of the examples to the program. */
let lines: readonly CuttableLine[] = [];
let environment: Readonly<Record<string, string>>;
const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-examples-kills-'));

/** A program of the examples that is ready to run in a folder of its own. */
interface Client {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly run: Run;
}

beforeAll(async () => {
  sandbox = await startSandbox({ listen: '127.0.0.1:0', key: UPSTREAM_KEY, render: async () => VIDEO });
  program = await newProgram('one program', { upstream: new URL(sandbox.url).host });
  await program.start();
  const direct = environmentFor(program);
  const { REELGATE_URL: url = '' } = direct;
  const { tasks } = program.config;
  lines = await Promise.all([url, `http://${tasks.listen}`, `http://${tasks.http}`].map(openCuttableLine));
  const [gateway, grpc, json] = lines.map((line) => new URL(line.url).host);
  environment = {
    ...direct,
    REELGATE_URL: `http://${gateway!}`,
    REELGATE_TASKS: grpc!,
    REELGATE_TASKS_HTTP: json!,
  };
}, START_TIMEOUT_MS);
afterAll(async () => {
  for (const line of lines) await line.stop();
  await program?.end();
  await sandbox?.stop();
  rmSync(folder, { recursive: true, force: true });
}, START_TIMEOUT_MS);

const python = await pythonWith(
  ['openai', 'grpc', 'grpc_tools'],
  [path.join(EXAMPLES, 'requirements.txt'), path.join(EXAMPLES, 'grpc-python/requirements.txt')],
  folder,
);
const go = await goToolchain(path.join(EXAMPLES, 'grpc-go'));
const grpcurl = await programOfPath('grpcurl', 'REELGATE_GRPCURL');

/** How an example reads when its watch has a deadline of three seconds. */
const WATCHES: readonly (readonly [file: string, from: string, to: string])[] = [
  ['grpc-shell.sh', 'attempt "$stream_s"', 'attempt 3'],
  ['connect.ts', 'cursor }, stream)', 'cursor }, { ...stream, timeoutMs: 3000 })'],
  ['grpc-js.ts', 'cursor }, caller, streamDeadline())', 'cursor }, caller, { deadline: Date.now() + 3000 })'],
  [
    'main.py',
    'WatchTask(request, metadata=caller, timeout=STREAM_S)',
    'WatchTask(request, metadata=caller, timeout=3)',
  ],
  ['main.go', 'WithTimeout(ctx, streamTimeout)\n\t\tstream', 'WithTimeout(ctx, 3*time.Second)\n\t\tstream'],
];

/** A copy of the examples whose prompt steers the sandbox, and whose watches have a short deadline. */
function copyWith(words: string): string {
  const copy = mkdtempSync(path.join(folder, 'copy-'));
  cpSync(EXAMPLES, copy, { recursive: true });
  const changed = globSync('**/*.{sh,mjs,ts,py,go}', { cwd: copy }).flatMap((name) => {
    const file = path.join(copy, name);
    const text = readFileSync(file, 'utf8');
    const [, from = '', to = ''] = WATCHES.find(([watch]) => watch === path.basename(name)) ?? [];
    writeFileSync(file, text.replace(PROMPT, `${PROMPT} ${words}`).replace(from, to));
    return from !== '' && text.includes(from) ? [from] : [];
  });
  expect(changed.sort()).toEqual(WATCHES.map(([, from]) => from).sort());
  return copy;
}

/** The programs that the machine can run. Each is built, so that they begin at one time. */
async function clientsIn(copy: string): Promise<readonly Client[]> {
  const clients: Client[] = [];
  const add = (name: string, file: string, args: readonly string[], more: Partial<Run> = {}): void => {
    const cwd = more.cwd ?? mkdtempSync(path.join(folder, 'saved-'));
    clients.push({
      name,
      file,
      args,
      run: { cwd, path: more.path, environment: { ...environment, ...more.environment } },
    });
  };
  const usable = (name: string, toolchain: Toolchain): string | undefined => {
    if ('file' in toolchain) return toolchain.file;
    process.stderr.write(`left out: ${name}: ${toolchain.missing}\n`);
    return undefined;
  };

  add('curl', 'bash', [path.join(copy, 'curl.sh')]);
  add('curl over the JSON ports', 'bash', [path.join(copy, 'grpc-curl.sh')]);
  add('buf curl', 'bash', [path.join(copy, 'grpc-shell.sh')], { path: PROGRAMS });
  symlinkSync(MODULES, path.join(copy, 'node_modules'));
  add('the OpenAI SDK for JavaScript', process.execPath, [path.join(copy, 'openai-sdk.mjs')]);
  const typescript = path.join(copy, 'grpc-typescript');
  await runExample(path.join(PROGRAMS, 'buf'), ['generate', PROTO], { cwd: typescript, path: PROGRAMS });
  for (const file of ['connect.ts', 'grpc-js.ts']) add(file, process.execPath, [path.join(typescript, file)]);
  const curl = usable('grpcurl', grpcurl);
  if (curl !== undefined)
    add('grpcurl', 'bash', [path.join(copy, 'grpc-shell.sh')], {
      path: path.dirname(curl),
      environment: { REELGATE_CLIENT: 'grpcurl' },
    });
  const interpreter = usable('Python', python);
  if (interpreter !== undefined) {
    add('the OpenAI SDK for Python', interpreter, [path.join(copy, 'openai-sdk.py')]);
    const cwd = path.join(copy, 'grpc-python');
    const protos = globSync('reelgate/**/*.proto', { cwd: PROTO });
    const generate = ['-m', 'grpc_tools.protoc', '-I', PROTO, '--python_out=.', '--grpc_python_out=.', ...protos];
    await runExample(interpreter, generate, { cwd });
    add('gRPC for Python', interpreter, ['main.py'], { cwd });
  }
  const compiler = usable('Go', go);
  if (compiler !== undefined) {
    const cwd = path.join(copy, 'grpc-go');
    const front = path.isAbsolute(compiler) ? path.dirname(compiler) : undefined;
    await runExample(path.join(PROGRAMS, 'buf'), ['generate', PROTO], { cwd, path: front });
    await runExample(compiler, ['build', '-o', 'boat', '.'], { cwd, path: front });
    add('gRPC for Go', path.join(cwd, 'boat'), [], { cwd });
  }
  return clients;
}

/** The states of the sandbox's work, without the `earlier` items that it had before. */
async function workAfter(earlier: number): Promise<readonly string[]> {
  const listed = await fetch(`${sandbox.url}/v2/query/video_generation?page_size=100`, {
    headers: { authorization: `Bearer ${UPSTREAM_KEY}` },
  });
  const { items } = (await listed.json()) as { items: readonly { status: string }[] };
  // newest first
  return items.map(({ status }) => status).slice(0, items.length - earlier);
}

test.each([
  [
    'loses the answer to its create',
    '[late:5s]',
    async () => {
      for (const line of lines) line.cut();
      for (const line of lines) line.mend();
    },
  ],
  [
    'has a task that outlasts its streams, and a kill of the program',
    '[slow:12s]',
    async () => {
      await program.signal(undefined, 'SIGKILL');
      program.startOne(undefined);
      await program.ready();
    },
  ],
])(
  'every example saves its one video when it %s',
  async (_what, words, disturb) => {
    const clients = await clientsIn(copyWith(words));
    const { length: earlier } = await workAfter(0);

    const running = Promise.allSettled(clients.map(({ file, args, run }) => runExample(file, args, run)));
    await until(async () => (await workAfter(earlier)).length === clients.length, SOON_MS);
    await disturb();
    const ended = await running;

    const outcomes = clients.map(({ name, run: { cwd } }, index) => {
      const end = ended[index]!;
      const file = path.join(cwd, 'boat.mp4');
      const outcome = end.status === 'fulfilled' ? 'ended well' : String(end.reason);
      return [name, outcome, existsSync(file) && readFileSync(file).equals(VIDEO)];
    });
    expect(outcomes).toEqual(clients.map(({ name }) => [name, 'ended well', true]));
    expect(await workAfter(earlier)).toEqual(clients.map(() => 'succeeded'));
  },
  RUN_TIMEOUT_MS,
);

const [PERMISSION_DENIED, DEADLINE_EXCEEDED, UNAVAILABLE] = [7, 4, 14];
/** The exit code of each program for a gRPC code, as its documentation says, and how it takes a deadline. */
const SHELL_CLIENTS = [
  { client: 'buf', exitWith: (code: number) => code << 3, deadline: /--timeout \d+s / },
  { client: 'grpcurl', exitWith: (code: number) => 64 + code, deadline: /-max-time \d+ / },
] as const;

/** Runs grpc-shell.sh with a program that ends with these exit codes, one at each call, and then answers. */
async function runWithCodes(client: string, codes: readonly number[]): Promise<{ out: string; calls: string[] }> {
  const cwd = mkdtempSync(path.join(folder, 'codes-'));
  const put = (name: string, ...lines: readonly string[]): void => {
    writeFileSync(path.join(cwd, name), ['#!/usr/bin/env bash', ...lines, ''].join('\n'));
    chmodSync(path.join(cwd, name), 0o755);
  };
  put('sleep', 'exit 0');
  put('curl', 'exit 0');
  put(
    client,
    String.raw`printf '%s\n' "$(tr '\n' ' ' <<<"$*")" >>calls`,
    `codes=(${codes.join(' ')})`,
    'calls=$(wc -l <calls)',
    `code=$((calls <= ${codes.length} ? codes[calls - 1] : 0))`,
    '((code == 0)) || exit "$code"',
    'echo \'{"id": "an id", "state": "TASK_STATE_COMPLETED", "url": "http://127.0.0.1/a"}\'',
  );
  const out = await runExample('bash', [path.join(EXAMPLES, 'grpc-shell.sh')], {
    cwd,
    path: cwd,
    environment: { REELGATE_CLIENT: client, REELGATE_CALLER_KEY: 'a key' },
  }).catch(String);
  return { out, calls: readFileSync(path.join(cwd, 'calls'), 'utf8').trim().split('\n') };
}

test.each(SHELL_CLIENTS)(
  'grpc-shell.sh goes on after the exit codes of $client that pass, and ends with others',
  async ({ client, exitWith, deadline }) => {
    const passing = [1, exitWith(UNAVAILABLE), exitWith(DEADLINE_EXCEEDED)];
    const refused = exitWith(PERMISSION_DENIED);
    const method = (call: string): string => /\.(\w+Service\/\w+)/.exec(call)?.[1] ?? '';

    const lostCreates = await runWithCodes(client, [0, ...passing]);
    const brokenWatches = await runWithCodes(client, [0, 0, ...passing]);
    const refusedWatch = await runWithCodes(client, [0, 0, refused]);
    const refusedFirst = await runWithCodes(client, [refused]);

    const creates = lostCreates.calls.filter((call) => method(call) === 'TaskService/CreateTask');
    const keys = creates.map((call) => /"idempotencyKey": "([^"]+)"/.exec(call)?.[1]);
    expect([keys.length, new Set(keys).size]).toEqual([4, 1]);
    const watches = brokenWatches.calls.filter((call) => method(call) === 'TaskService/WatchTask');
    expect([watches.length, brokenWatches.out]).toEqual([4, expect.stringContaining('is saved in boat.mp4')]);
    expect([refusedWatch.calls.length, refusedWatch.out]).toEqual([
      3,
      expect.stringContaining(`ended with ${refused}`),
    ]);
    expect(refusedFirst.calls.map(method)).toEqual(['AccountService/ListTokens']);
    for (const call of brokenWatches.calls) expect(call).toMatch(deadline);
  },
);
