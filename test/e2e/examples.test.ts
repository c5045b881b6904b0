import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startSandbox } from '../../deploy/local/sandbox/sandbox.ts';
import type { Sandbox } from '../../deploy/local/sandbox/sandbox.ts';
import { goToolchain, programOfPath, pythonWith } from '../harness/toolchains.ts';
import type { Toolchain } from '../harness/toolchains.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { listTasks, promptOf } from '../harness/records.ts';
import type { TaskView } from '../../services/gateway/console/api/task.ts';
import { httpCaller } from '../harness/client.ts';
import { KEYS, UPSTREAM_KEY } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';
import { EXAMPLES, MODULES, PROGRAMS, PROTO, RUN_TIMEOUT_MS, environmentFor, runExample } from './example-runs.ts';
import type { Run } from './example-runs.ts';
import { withSora } from './with-sora.ts';

const VIDEO = readFileSync(path.join(import.meta.dirname, '../../services/media/testing/fixtures/768p.mp4'));
const START_TIMEOUT_MS = 60_000;
const TSC_OPTIONS = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'esnext', '--module', 'nodenext'].concat(
  '--allowImportingTsExtensions',
  '--types',
  'node',
);

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
  program = await newProgram('one program', { upstream }, (config) => withSora(withChat(upstream)(config)));
  await program.start();
}, START_TIMEOUT_MS);
afterAll(async () => {
  await program?.end();
  await sandbox?.stop();
  rmSync(folder, { recursive: true, force: true });
}, START_TIMEOUT_MS);

const run = (file: string, args: readonly string[], options: Partial<Run> = {}): Promise<string> =>
  runExample(file, args, {
    cwd: folder,
    ...options,
    environment: { ...environmentFor(program), ...options.environment },
  });

/** Runs an example in a folder of its own. Returns its output and its files. */
async function savedBy(
  name: string,
  file: string,
  args: readonly string[],
  options: Partial<Run> = {},
): Promise<{ out: string; saved: Buffer }> {
  const cwd = options.cwd ?? mkdtempSync(path.join(folder, `${name}-`));
  const out = await run(file, args, { ...options, cwd });
  return { out, saved: readFileSync(path.join(cwd, 'boat.mp4')) };
}

/** A copy of an example that can be generated into. */
function copyOf(example: string): string {
  const cwd = path.join(folder, example);
  cpSync(path.join(EXAMPLES, example), cwd, { recursive: true });
  return cwd;
}

const COMPLETED = /^task_\w+ is completed: 1344 x 768, \d+ bytes in boat\.mp4$/m;

test('the page for teams has the programs of the examples', () => {
  const page = readFileSync(path.join(PROTO, 'README.md'), 'utf8');
  const blocks = new Set([...page.matchAll(/^```\w[^\n]*\n([^]*?)^```$/gm)].map(([, code]) => code));
  const files = [
    'grpc-go/main.go',
    'grpc-python/main.py',
    'grpc-typescript/connect.ts',
    'grpc-typescript/grpc-js.ts',
    'grpc-shell.sh',
    'grpc-curl.sh',
  ];
  const missing = files.filter((file) => !blocks.has(readFileSync(path.join(EXAMPLES, file), 'utf8')));
  expect(missing).toEqual([]);
  for (const file of ['grpc-go/buf.gen.yaml', 'grpc-typescript/buf.gen.yaml'])
    expect(blocks).toContain(`# buf.gen.yaml\n${readFileSync(path.join(EXAMPLES, file), 'utf8')}`);
});

test.each(['connect.ts', 'grpc-js.ts'])(
  'TypeScript compiles, makes a video over gRPC, watches it and saves it: %s',
  async (file) => {
    const cwd = mkdtempSync(path.join(folder, 'typescript-'));
    cpSync(path.join(EXAMPLES, 'grpc-typescript'), cwd, { recursive: true });
    symlinkSync(MODULES, path.join(cwd, 'node_modules'));
    await run(path.join(PROGRAMS, 'buf'), ['generate', PROTO], { cwd, path: PROGRAMS });
    await run(path.join(PROGRAMS, 'tsc'), [...TSC_OPTIONS, file], { cwd });
    const { out, saved } = await savedBy('typescript', process.execPath, [file], { cwd });
    expect(out).toMatch(COMPLETED);
    expect(saved.equals(VIDEO)).toBe(true);
  },
  RUN_TIMEOUT_MS,
);

test(
  'buf curl makes a video over gRPC, watches it and saves it',
  async () => {
    const { out, saved } = await savedBy('buf', 'bash', [path.join(EXAMPLES, 'grpc-shell.sh')], { path: PROGRAMS });
    expect(out).toMatch(/COMPLETED"\n[^]*is saved in boat\.mp4\n$/);
    expect(saved.equals(VIDEO)).toBe(true);
  },
  RUN_TIMEOUT_MS,
);

test(
  'plain curl makes a video over the JSON ports, polls it and saves it',
  async () => {
    const { out, saved } = await savedBy('json', 'bash', [path.join(EXAMPLES, 'grpc-curl.sh')]);
    expect(out).toMatch(/COMPLETED\n[^]*is saved in boat\.mp4\n$/);
    expect(saved.equals(VIDEO)).toBe(true);
  },
  RUN_TIMEOUT_MS,
);

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
  'the commands of the skill, step by step, make a video and save it',
  async () => {
    const skill = readFileSync(path.join(EXAMPLES, 'skills/reelgate-video/SKILL.md'), 'utf8');
    const commands = [...skill.matchAll(/^```bash\n([^]*?)^```$/gm)].map(([, command = '']) => command);
    const cwd = mkdtempSync(path.join(folder, 'skill-'));
    const step = (command: string, id = ''): Promise<string> =>
      run('bash', ['-c', command], { cwd, environment: { VIDEO_ID: id } });
    const [models = '', estimate = '', create = '', wait = '', download = '', ...others] = commands;

    expect(await step(models)).toContain('"Alpha-H3"');
    expect(JSON.parse(await step(estimate))).toMatchObject({ amount: '0.4', currency: 'USD' });
    const [, key = '', answer = ''] = /^(\S+)\n(.*)$/.exec(await step(create)) ?? [];
    expect(key).toMatch(/^video-\d+-\d+$/);
    const { id } = JSON.parse(answer) as { readonly id: string };
    let status = '';
    while (!['completed', 'failed'].includes(status))
      ({ status } = JSON.parse(await step(wait, id)) as { readonly status: string });
    await step(download, id);
    expect([status, VIDEO.equals(readFileSync(path.join(cwd, 'video.mp4'))), others]).toEqual(['completed', true, []]);
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
  'a program for the videos API of OpenAI makes a video once the line of its client is changed',
  async () => {
    const { out, saved } = await savedBy('moved', process.execPath, [path.join(EXAMPLES, 'from-openai-videos.mjs')]);
    expect(out).toMatch(/^task_\w+ is completed, saved boat\.mp4\n$/);
    expect(saved.equals(VIDEO)).toBe(true);
  },
  RUN_TIMEOUT_MS,
);

test(
  'the same program as it was makes a video if the environment names the gateway',
  async () => {
    const page = readFileSync(path.join(EXAMPLES, 'from-openai-videos.md'), 'utf8');
    const [, before = '', after = ''] = /^-(const client.*)\n\+(const client.*)$/m.exec(page) ?? [];
    const cwd = mkdtempSync(path.join(folder, 'before-'));
    symlinkSync(MODULES, path.join(cwd, 'node_modules'));
    const moved = readFileSync(path.join(EXAMPLES, 'from-openai-videos.mjs'), 'utf8');
    writeFileSync(path.join(cwd, 'before.mjs'), moved.replace(after, before));
    const { REELGATE_URL: url = '', REELGATE_API_KEY: key = '' } = environmentFor(program);
    const environment = { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: key };
    const { saved } = await savedBy('before', process.execPath, ['before.mjs'], { cwd, environment });
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
/** Generates the code of the contracts into the folder. */
async function generatePython(file: string, cwd: string): Promise<void> {
  const protos = globSync('reelgate/**/*.proto', { cwd: PROTO });
  await run(file, ['-m', 'grpc_tools.protoc', '-I', PROTO, '--python_out=.', '--grpc_python_out=.', ...protos], {
    cwd,
  });
}

/** Words that a shell, JavaScript and Python would each read something in. */
const PROMPT = `a "red" boat, it's $HOME \\ \`5\` 100 % {n}\nat dawn 🚤`;

/** The programs that the page of a task shows, by their ids. */
async function readCallPrograms(): Promise<ReadonlyMap<string, string>> {
  const id = await httpCaller(program.base, KEYS.demo).create('/v1/videos', { model: 'Alpha-H3', prompt: PROMPT });
  const { call } = httpCaller(program.base, undefined);
  const own = { origin: program.base, 'x-reelgate-console': '1' };
  const session = await call('POST', '/console/api/session', { token: KEYS.demo }, own);
  const [cookie = ''] = (session.headers.get('set-cookie') ?? '').split(';');
  const { json } = await call('GET', `/console/api/tasks/${id}`, undefined, { ...own, cookie });
  const { programs } = (json as TaskView).sameCall!;
  return new Map(programs.map(({ id: name, text }) => [name, text]));
}

/** Makes a task by a program of the page. Returns the prompts of the two newest tasks, and whether the video was saved. */
async function runCallProgram(
  id: string,
  file: string,
  ending: string,
  cwd = mkdtempSync(path.join(folder, `${id}-`)),
): Promise<{ readonly prompts: readonly string[]; readonly isSaved: boolean }> {
  const text = (await readCallPrograms()).get(id) ?? '';
  writeFileSync(path.join(cwd, `again.${ending}`), text);
  await run(file, [`again.${ending}`], { cwd });
  const prompts = (await listTasks(program, '--limit', '2')).map(promptOf);
  return { prompts, isSaved: readFileSync(path.join(cwd, 'video.mp4')).equals(VIDEO) };
}

const SAME = { prompts: [PROMPT, PROMPT], isSaved: true };

/** A folder with the packages that a program of the page installs. */
function newModules(name: string): string {
  const cwd = mkdtempSync(path.join(folder, `${name}-`));
  const provider = path.join(cwd, 'node_modules/@reelgate/ai-sdk-provider');
  mkdirSync(provider, { recursive: true });
  for (const one of ['openai', 'ai']) symlinkSync(path.join(MODULES, one), path.join(cwd, 'node_modules', one));
  writeFileSync(path.join(provider, 'package.json'), JSON.stringify({ type: 'module', exports: './index.js' }));
  const source = path.join(EXAMPLES, 'ai-sdk-provider/src/index.ts');
  writeFileSync(path.join(provider, 'index.js'), `export * from ${JSON.stringify(source)};\n`);
  return cwd;
}

describe('a program that the page of a task shows makes the order again and saves its video', () => {
  test('with curl', async () => expect(await runCallProgram('curl', 'bash', 'sh')).toEqual(SAME), RUN_TIMEOUT_MS);

  test.each(['openai_node', 'ai_sdk'])(
    'with %s',
    async (id) => {
      expect(await runCallProgram(id, process.execPath, 'mjs', newModules(id))).toEqual(SAME);
    },
    RUN_TIMEOUT_MS,
  );

  testWith(python, 'with openai_python', async (file) => {
    expect(await runCallProgram('openai_python', file, 'py')).toEqual(SAME);
  });

  testWith(python, 'with grpc_python', async (file) => {
    const cwd = mkdtempSync(path.join(folder, 'grpc-again-'));
    await generatePython(file, cwd);
    expect(await runCallProgram('grpc_python', file, 'py', cwd)).toEqual(SAME);
  });
});

const go = await goToolchain(path.join(EXAMPLES, 'grpc-go'));
const grpcurl = await programOfPath('grpcurl', 'REELGATE_GRPCURL');

describe('with a toolchain of the machine', () => {
  testWith(python, 'the OpenAI SDK for Python makes a video, polls it and saves it', async (file) => {
    const { out, saved } = await savedBy('python', file, [path.join(EXAMPLES, 'openai-sdk.py')]);
    expect(out).toMatch(/^task_\w+ is completed, saved boat\.mp4\n$/);
    expect(saved.equals(VIDEO)).toBe(true);
  });

  testWith(
    python,
    'Python generates its code from the contracts, makes a video over gRPC, watches it and saves it',
    async (file) => {
      const cwd = copyOf('grpc-python');
      await generatePython(file, cwd);
      const { out, saved } = await savedBy('python', file, ['main.py'], { cwd });
      expect(out).toMatch(COMPLETED);
      expect(saved.equals(VIDEO)).toBe(true);
    },
  );

  testWith(
    go,
    'Go generates its code from the contracts, makes a video over gRPC, watches it and saves it',
    async (file) => {
      const cwd = copyOf('grpc-go');
      const front = path.isAbsolute(file) ? path.dirname(file) : undefined;
      await run(path.join(PROGRAMS, 'buf'), ['generate', PROTO], { cwd, path: front });
      const { out, saved } = await savedBy('go', file, ['run', '.'], { cwd, path: front });
      expect(out).toMatch(COMPLETED);
      expect(saved.equals(VIDEO)).toBe(true);
    },
  );

  testWith(grpcurl, 'grpcurl makes a video over gRPC, watches it and saves it', async (file) => {
    const { out, saved } = await savedBy('grpcurl', 'bash', [path.join(EXAMPLES, 'grpc-shell.sh')], {
      path: path.dirname(file),
      environment: { REELGATE_CLIENT: 'grpcurl' },
    });
    expect(out).toMatch(/COMPLETED"\n[^]*is saved in boat\.mp4\n$/);
    expect(saved.equals(VIDEO)).toBe(true);
  });
});
