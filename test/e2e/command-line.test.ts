import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { listTasks, listTokens, readAccount } from '../harness/records.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import { KEYS } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';

const MAIN = path.resolve(import.meta.dirname, '../../deploy/cli/main.ts');
const TIMEOUT_MS = 120_000;

let upstream: ScriptedUpstream;
let program: Program;
let configFile: string;
let folder: string;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  program = await newProgram(
    'one program',
    { upstream: upstream.host },
    // As in the configuration of npm start, the first account has no key in the file.
    (config) =>
      ({
        ...config,
        accounts: [{ id: 'own', credit: '9.00', tokens: [{ models: ['*'] }] }, ...config.accounts],
      }) as TestConfig,
  );
  configFile = path.join(path.dirname(program.config.data_dir), 'reelgate.yaml');
  await program.start();
}, TIMEOUT_MS);
afterAll(async () => {
  await program?.end();
  await upstream?.stop();
}, TIMEOUT_MS);
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'reelgate-cli-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const environment = () => ({
  ...process.env,
  NODE_OPTIONS: '--disable-warning=ExperimentalWarning',
  REELGATE_CONFIG: configFile,
  REELGATE_TOKEN: '',
  INIT_CWD: folder,
});

function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...args], { env: environment() }, (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err });
    });
  });
}

const idIn = (text: string): string => /task_[0-9a-v]+/.exec(text)?.[0] ?? '';
const videoFile = (): string => path.join(folder, 'boat.mp4');

describe('video create', () => {
  test(
    'makes a video without an address or a token, saves it and prints the charge',
    async () => {
      const { code, out, err } = await run('video', 'create', 'a red boat at dawn', '-o', 'boat.mp4');

      expect([code, out]).toEqual([
        0,
        expect.stringMatching(/^saved \S+\/boat\.mp4 \(\S+ \S+\) after \d+s; charged 0\.4 USD\n$/),
      ]);
      expect(err).toMatch(/^task_\S+ {2}queued\n(?:in_progress {2}\d+ %\n)*completed {2}100 %\n$/);
      expect(readFileSync(videoFile()).subarray(4, 8).toString()).toBe('ftyp');
      expect(readdirSync(folder)).toEqual(['boat.mp4']);
      expect(await readAccount(program, 'own')).toMatchObject({ balance: '8.6', held: '0' });
    },
    TIMEOUT_MS,
  );

  test(
    'keeps the token that it made for itself',
    async () => {
      const tokens = async () => (await listTokens(program, 'own')).filter(({ name }) => name === 'command line');
      await run('video', 'create', 'a boat', '-o', 'one.mp4');
      const before = await tokens();
      await run('video', 'create', 'a boat', '-o', 'two.mp4');

      expect([before.length, (await tokens()).length]).toEqual([1, 1]);
    },
    TIMEOUT_MS,
  );

  test(
    'takes the address and the token of another gateway, and prints one JSON document',
    async () => {
      const wanted = ['--duration', '4', '--resolution', '768P', '--ratio', '16:9', '--json'];
      const other = ['--url', program.base, '--token', KEYS.other];
      const { code, out } = await run('video', 'create', 'a boat', '-o', 'boat.mp4', ...wanted, ...other);

      expect(code).toBe(0);
      expect(JSON.parse(out)).toEqual({
        id: expect.stringMatching(/^task_/),
        status: 'completed',
        file: videoFile(),
        bytes: readFileSync(videoFile()).length,
        took_ms: expect.any(Number),
      });
    },
    TIMEOUT_MS,
  );

  test('replaces no file without --force, and refuses before it creates a task', async () => {
    writeFileSync(videoFile(), 'mine');
    const before = await listTasks(program);
    const { code, err } = await run('video', 'create', 'a boat', '-o', 'boat.mp4');

    expect([code, err]).toEqual([1, `${videoFile()} exists; give another name, or --force to replace it\n`]);
    expect(readFileSync(videoFile(), 'utf8')).toBe('mine');
    expect(await listTasks(program)).toEqual(before);
  });

  test(
    'replaces a file with --force',
    async () => {
      writeFileSync(videoFile(), 'mine');
      const { code } = await run('video', 'create', 'a boat', '-o', 'boat.mp4', '--force');

      expect(code).toBe(0);
      expect(readFileSync(videoFile()).subarray(4, 8).toString()).toBe('ftyp');
    },
    TIMEOUT_MS,
  );

  test.each<[string[], number, RegExp]>([
    [['a boat', '--duration', '99'], 1, /^refused with 400: /],
    [['a boat', '--model', 'none'], 1, /^refused with 404: /],
    [['a boat', '--max-amount', '0.01'], 1, /^refused with 422: max_amount /],
    [['a boat', '--image', 'none.png'], 1, /^--image: ENOENT/],
    [['a boat', '--image', '.'], 1, /^--image: EISDIR/],
    [['a boat', '-o', 'no/such/folder/boat.mp4'], 1, /no\/such\/folder is not a writable folder\n$/],
    [['a boat', '--url', 'http://127.0.0.1:1'], 2, /^--url needs a token/],
    [[''], 2, /^give a prompt that describes the video/],
  ])('%j ends with an error and leaves no file', async (args, exitCode, expected) => {
    const { code, out, err } = await run('video', 'create', ...args);

    expect([code, out]).toEqual([exitCode, '']);
    expect(err).toMatch(expected);
    expect(readdirSync(folder)).toEqual([]);
  });

  test(
    'repeats a create without an answer under the same key, so that there is one task and one charge',
    async () => {
      const before = (await listTasks(program, '--account', 'demo')).length;
      let lost = 0;
      const keys: unknown[] = [];
      // Passes the create to the gateway and breaks off the first answers.
      const line = createServer((request, response) => {
        const parts: Buffer[] = [];
        request.on('data', (part: Buffer) => parts.push(part));
        request.on('end', () => {
          void (async () => {
            const body = Buffer.concat(parts);
            const headers = Object.fromEntries(
              Object.entries(request.headers).filter(
                ([name]) => !['host', 'connection', 'content-length'].includes(name),
              ),
            ) as Record<string, string>;
            const answer = await fetch(program.base + (request.url ?? ''), {
              method: request.method ?? 'GET',
              headers,
              ...(body.length === 0 ? {} : { body }),
            });
            if (request.url === '/v1/videos' && request.method === 'POST') {
              keys.push(request.headers['idempotency-key']);
              if (lost < 2) {
                lost += 1;
                request.socket.destroy();
                return;
              }
            }
            response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
            response.end(Buffer.from(await answer.arrayBuffer()));
          })();
        });
      });
      await new Promise<void>((resolve) => line.listen(0, '127.0.0.1', resolve));
      const { port } = line.address() as AddressInfo;
      const { code } = await run(
        'video',
        'create',
        'a boat',
        '-o',
        'boat.mp4',
        '--url',
        `http://127.0.0.1:${port}`,
        '--token',
        KEYS.demo,
      );
      line.close();

      expect([code, keys.length, new Set(keys).size]).toEqual([0, 3, 1]);
      expect(await listTasks(program, '--account', 'demo')).toHaveLength(before + 1);
    },
    TIMEOUT_MS,
  );

  test(
    'Ctrl-C leaves the task, removes the unfinished file, and says how to go on',
    async () => {
      const child = spawn(process.execPath, [MAIN, 'video', 'create', 'a slow boat [gate]', '-o', 'boat.mp4'], {
        env: environment(),
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let out = '';
      child.stdout.on('data', (part: Buffer) => (out += part.toString()));
      const err = await new Promise<string>((resolve) => {
        child.stderr.once('data', (part: Buffer) => resolve(part.toString()));
      });
      child.kill('SIGINT');
      const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));

      expect(code).toBe(130);
      expect(out).toMatch(/^stopped waiting; the task continues\n/);
      expect(readdirSync(folder)).toEqual([]);
      const [, goOn = ''] = /: reelgate (video save .*)\n$/.exec(out) ?? [];
      expect(goOn).toBe(`video save ${idIn(err)} -o ${videoFile()}`);
      upstream.openGate();
      expect((await run(...goOn.split(' '))).code).toBe(0);
      expect(existsSync(videoFile())).toBe(true);
    },
    TIMEOUT_MS,
  );
});

test('the message for a missing gateway differs from a refusal', async () => {
  const file = path.join(folder, 'elsewhere.yaml');
  writeFileSync(file, JSON.stringify({ public_url: 'http://127.0.0.1:1', accounts: [{ id: 'a' }] }));
  const { code, err } = await new Promise<{ code: unknown; err: string }>((resolve) => {
    const env = { ...environment(), REELGATE_CONFIG: file };
    execFile(process.execPath, [MAIN, 'video', 'create', 'x'], { env }, (error, _out, stderr) =>
      resolve({ code: error?.code, err: stderr }),
    );
  });

  expect([code, err]).toEqual([
    1,
    'no gateway answers at http://127.0.0.1:1; npm start starts one, and --url names another\n',
  ]);
});

describe('a list', () => {
  test.each<[string, RegExp]>([
    [
      'task list',
      new RegExp(
        String.raw`^ID +STATE +CREATED +MONEY +MODEL +ERROR +PROMPT\n` +
          String.raw`task_\S+ +completed +\d+[sm] ago +0\.4 +Alpha-H3 +a slow boat \[gate\]$`,
        'm',
      ),
    ],
    ['task list --wide', /^ID +STATE +CREATED +CREATED AT .* ACCOUNT +TOKEN +KIND +CHANNEL +COMPLETED AT/],
    ['job list', /^none$/m],
    ['batch list --account demo', /^none$/m],
    ['token list --account demo', /^ID +ACCOUNT +NAME +USED +LIMIT +STATE +MODELS\n\S+ +demo /],
    [
      'channel list',
      /^ID +ADAPTER +ENABLED +PAUSED +CIRCUIT +IN FLIGHT +MODELS\nchannel-of-the-test +alpha-v2 +yes +no +closed +\d+\/1000 /,
    ],
    ['attention list', /^none$/m],
    ['act list', /^WHEN +WHO +ACTION +SUBJECT +REASON\n\d+[sm] ago +\S+ +token_created /],
    ['price list', /^KEY +VERSION +CURRENT +SINCE +TERMS\nAlpha-H3\S* +1 +yes +\d+[sm] ago +\{/],
  ])('%s is a table', async (line, expected) => {
    const { code, out } = await run(...line.split(' '));

    expect(code).toBe(0);
    expect(out).toMatch(expected);
  });
});

test.each(['media verify', 'ledger verify', 'ledger rebuild'])('%s prints no progress in a pipe', async (line) => {
  const { code, err } = await run(...line.split(' '));

  expect([code, err]).toEqual([0, '']);
});
