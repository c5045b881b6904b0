import { execFile, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from '../harness/free-ports.ts';
import { notInstalled, untilAnswering } from './peer.ts';
import type { NotInstalled, PeerProgram } from './peer.ts';
import { UPSTREAM_MODEL } from './chat-request.ts';

const MODULE = 'github.com/songquanpeng/one-api';
const VERSION = 'v0.6.10';
/** The vocabularies of its tokenizer as a Go module, by the author of the tokenizer; otherwise each start fetches them. */
const VOCABULARIES = { module: 'github.com/pkoukk/tiktoken-go-loader', version: 'v0.0.2' };
const INSTALL_TIMEOUT_MS = 900_000;
const CALL_TIMEOUT_MS = 10_000;
/** Where Go's own installer puts it, for shells that do not know. */
const GO_FOLDER = '/usr/local/go/bin';
/** A module has no compiled pages, and the program does not build without some. */
const PAGE = '<!doctype html>';
const FIRST_LOGIN = { username: 'root', password: '123456' };
/** The type of a channel that speaks OpenAI's protocol. */
const OPENAI = 1;
const NEVER = -1;
const PLENTY = 500_000_000_000_000;
/** The price of a model that it does not know; without one it logs a complaint with each call. */
const RATIOS = JSON.stringify({ [UPSTREAM_MODEL]: 1.5 });

/** On a slow disk its calls wait for the database's lock; it refuses those that wait longer, by default 3 seconds. */
const ENVIRONMENT = { SQLITE_BUSY_TIMEOUT: '60000' };

/** It has no setting for its listen address and listens on every address; and it fetches vocabularies from the network. */
const PATCHES = [
  { file: 'main.go', from: 'server.Run(":" + port)', to: 'server.Run("127.0.0.1:" + port)' },
  {
    file: 'relay/adaptor/openai/token.go',
    from: 'func InitTokenEncoders() {',
    to: 'func InitTokenEncoders() {\n\ttiktoken.SetBpeLoader(vocabularies.NewOfflineLoader())',
  },
  {
    file: 'relay/adaptor/openai/token.go',
    from: '"github.com/pkoukk/tiktoken-go"',
    to: `"github.com/pkoukk/tiktoken-go"\n\tvocabularies "${VOCABULARIES.module}"`,
  },
];

/**
 * Builds one-api in the system's temporary folder if it is not there yet, from Go modules alone, and never as a
 * dependency. It counts tokens and money, and keeps them in SQLite.
 */
export async function installOneApi(): Promise<PeerProgram | NotInstalled> {
  const folder = path.join(tmpdir(), `reelgate-bench-one-api-${VERSION}`);
  const program = path.join(folder, 'one-api');
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true });
    try {
      await build(folder, program);
    } catch (error) {
      return notInstalled(error);
    }
  }
  return { start: (_kind, upstreamPort) => start(program, upstreamPort) };
}

async function build(folder: string, program: string): Promise<void> {
  const run = promisify(execFile);
  const source = path.join(folder, 'source');
  const env = {
    ...process.env,
    PATH: `${process.env['PATH'] ?? ''}${path.delimiter}${GO_FOLDER}`,
    GOPATH: path.join(folder, 'go'),
    GOCACHE: path.join(folder, 'built'),
    GOFLAGS: '-modcacherw -buildvcs=false',
  };
  const options = { env, timeout: INSTALL_TIMEOUT_MS };
  const { stdout } = await run('go', ['mod', 'download', '-json', `${MODULE}@${VERSION}`], { ...options, cwd: folder });
  const { Dir: module } = JSON.parse(stdout) as { readonly Dir: string };
  rmSync(source, { recursive: true, force: true });
  cpSync(module, source, { recursive: true });
  addPages(source);
  for (const { file, from, to } of PATCHES) patch(path.join(source, file), from, to);
  await run('go', ['mod', 'edit', `-require=${VOCABULARIES.module}@${VOCABULARIES.version}`], {
    ...options,
    cwd: source,
  });
  await run('go', ['build', '-mod=mod', '-o', program, '.'], { ...options, cwd: source });
  for (const used of [source, env.GOPATH, env.GOCACHE]) rmSync(used, { recursive: true, force: true });
}

function addPages(source: string): void {
  const themes = readFileSync(path.join(source, 'web/THEMES'), 'utf8').split('\n');
  for (const theme of themes.filter((name) => name !== '')) {
    const pages = path.join(source, 'web/build', theme);
    mkdirSync(pages, { recursive: true });
    writeFileSync(path.join(pages, 'index.html'), PAGE);
  }
}

function patch(file: string, from: string, to: string): void {
  const text = readFileSync(file, 'utf8');
  if (!text.includes(from)) throw new Error(`${path.basename(file)} has no ${from}`);
  writeFileSync(file, text.replace(from, to));
}

/** As it comes: SQLite, an account, a token with a quota and a line of its log for each call. */
async function start(program: string, upstreamPort: number): ReturnType<PeerProgram['start']> {
  const [port = 0] = await freePorts(1);
  const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-bench-one-api-data-'));
  // variables of the shell could name another database
  const env = { ...ENVIRONMENT, PORT: String(port) };
  const child = spawn(program, { cwd: folder, stdio: 'ignore', env });
  const stop = (): void => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  try {
    await untilAnswering(child, port);
    return { port, pid: child.pid ?? 0, headers: [], token: await makeToken(port, upstreamPort), stop };
  } catch (error) {
    stop();
    throw error;
  }
}

/** Adds a channel to the upstream and a token, as an operator does. */
async function makeToken(port: number, upstreamPort: number): Promise<string> {
  const call = openOperatorCalls(port);
  await call('POST', '/api/user/login', FIRST_LOGIN);
  await call('PUT', '/api/option/', { key: 'ModelRatio', value: RATIOS });
  await call('POST', '/api/channel/', {
    type: OPENAI,
    name: 'bench',
    key: 'some-key',
    base_url: `http://127.0.0.1:${upstreamPort}`,
    models: UPSTREAM_MODEL,
    group: 'default',
  });
  const token = { name: 'bench', expired_time: NEVER, remain_quota: PLENTY, unlimited_quota: false };
  return (await call('POST', '/api/token/', token)).key;
}

type OperatorCall = (method: string, target: string, body: object) => Promise<{ readonly key: string }>;

/** Calls with the cookie of the last answer that had one. */
function openOperatorCalls(port: number): OperatorCall {
  let cookie = '';
  return async (method, target, body) => {
    const answer = await fetch(`http://127.0.0.1:${port}${target}`, {
      method,
      headers: { 'content-type': 'application/json', cookie },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    });
    const [given] = answer.headers.getSetCookie();
    cookie = given?.split(';', 1)[0] ?? cookie;
    const { success, message, data } = (await answer.json()) as {
      readonly success: boolean;
      readonly message: string;
      readonly data?: { readonly key?: string };
    };
    if (!success) throw new Error(`one-api refused ${target}: ${message}`);
    return { key: data?.key ?? '' };
  };
}
