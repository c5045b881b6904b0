import { execFile, spawn } from 'node:child_process';
import type { ChildProcess, ChildProcessByStdio } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { testConfig } from './test-config.ts';
import type { ConfigOptions, TestConfig } from './test-config.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const COMMAND_LINE = ['--disable-warning=ExperimentalWarning', path.join(ROOT, 'deploy/cli/main.ts')];
const READY_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 60_000;
const OUTPUT_KEPT = 20_000;
/** The most output of one command. A thousand tasks with their attempts and events take a few MiB. */
const COMMAND_BYTES_MAX = 64 * 1024 * 1024;

/** All services in one process, or each service in its own. */
export const SHAPES = {
  'one program': [undefined],
  'four processes': ['billing', 'media', 'tasks', 'gateway'],
} as const;
export type Shape = keyof typeof SHAPES;
export type ServiceProcess = (typeof SHAPES)['four processes'][number];

export interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly json: unknown;
}

/** Reelgate as an operator runs it: with its own processes, configuration and data. */
export interface Program {
  readonly base: string;
  readonly config: TestConfig;
  /** The ids of its running processes. */
  pids(): readonly number[];
  /** The id of one process. `service` is undefined for one program. */
  pid(service: ServiceProcess | undefined): number;
  /** The output of the processes. */
  output(): string;
  /** The operator's command line, with --json. */
  command(...args: readonly string[]): Promise<CommandResult>;
  /** Starts a command as a person types it. */
  spawnCommand(...args: readonly string[]): ChildProcessByStdio<null, Readable, Readable>;
  start(): Promise<void>;
  /** Resolves when every service can serve. */
  ready(): Promise<void>;
  /** Ends one of four processes, by SIGKILL if no signal is named, and starts it again after `restMs`. */
  killOne(service: ServiceProcess, restMs: number, signal?: NodeJS.Signals): Promise<void>;
  /** Sends a signal to one process. Its exit code; null: a signal ended it. `service` is undefined for one program. */
  signal(service: ServiceProcess | undefined, signal: NodeJS.Signals): Promise<number | null>;
  /** Starts one process again. */
  startOne(service: ServiceProcess | undefined): void;
  /** Sends the signal to every process and waits until all have ended. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Stops the program and removes its data. */
  end(): Promise<void>;
}

export interface ProgramOptions {
  /** Variables of the environment of the program and of its commands, besides those of the test. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Variables of one process; without a name, of the commands. They are asked for at every start. */
  readonly environmentOf?: (service: ServiceProcess | undefined) => Readonly<Record<string, string>>;
  /** How many characters of the output are kept, the last ones. */
  readonly outputKept?: number;
}

/** `change` changes the configuration that every test has. */
export async function newProgram(
  shape: Shape,
  options: Omit<ConfigOptions, 'dir'>,
  change: (config: TestConfig) => TestConfig = (config) => config,
  { environment: added = {}, environmentOf = () => ({}), outputKept = OUTPUT_KEPT }: ProgramOptions = {},
): Promise<Program> {
  const dir = mkdtempSync(path.join(tmpdir(), 'reelgate-e2e-'));
  const config = change(await testConfig({ ...options, dir }));
  const file = path.join(dir, 'reelgate.yaml');
  writeFileSync(file, JSON.stringify(config, undefined, 2));
  const environment = { ...process.env, REELGATE_CONFIG: file, NODE_OPTIONS: '', ...added };
  const children = new Map<ServiceProcess | undefined, ChildProcess>();
  let printed = '';
  const launch = (service: ServiceProcess | undefined): void => {
    const before = children.get(service);
    if (before !== undefined && before.exitCode === null && before.signalCode === null)
      throw new Error(`${service ?? 'the program'} still runs; stop it before it is started again`);
    const child = spawn(
      process.execPath,
      [
        '--disable-warning=ExperimentalWarning',
        path.join(ROOT, 'deploy/program/main.ts'),
        ...(service === undefined ? [] : [service]),
      ],
      { cwd: dir, env: { ...environment, ...environmentOf(service) }, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (part: Buffer) => {
        printed = (printed + part.toString()).slice(-outputKept);
      });
    children.set(service, child);
  };
  const program: Program = {
    base: config.public_url,
    config,
    pid: (service) => children.get(service)!.pid!,
    pids: () => [...children.values()].flatMap(({ pid }) => (pid === undefined ? [] : [pid])),
    output: () => printed,
    spawnCommand: (...args) =>
      spawn(process.execPath, [...COMMAND_LINE, ...args], {
        env: { ...environment, ...environmentOf(undefined) },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    command: (...args) =>
      new Promise((resolve, reject) => {
        execFile(
          process.execPath,
          [...COMMAND_LINE, ...args, '--json'],
          { env: { ...environment, ...environmentOf(undefined) }, maxBuffer: COMMAND_BYTES_MAX },
          (error, out, err) => {
            // An error without an exit code, such as too much output, is not an answer of the command.
            if (error !== null && typeof error.code !== 'number')
              reject(new Error(`the command did not end: ${error.message}`));
            else resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err, json: parsed(out) });
          },
        );
      }),
    start: async () => {
      for (const service of SHAPES[shape]) launch(service);
      await program.ready();
    },
    ready: () =>
      untilReady(
        () => (shape === 'one program' ? isReady(program.base) : areReady(config)),
        () => [...children.values()],
        () => printed,
      ),
    killOne: async (service, restMs, signal = 'SIGKILL') => {
      await ended(children.get(service)!, signal);
      await wait(restMs);
      launch(service);
    },
    signal: (service, signal) =>
      new Promise((resolve) => {
        const child = children.get(service)!;
        child.once('exit', resolve);
        child.kill(signal);
      }),
    startOne: launch,
    stop: async (signal = 'SIGTERM') => {
      await Promise.all([...children.values()].map((child) => ended(child, signal)));
      children.clear();
    },
    end: async () => {
      await program.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
  return program;
}

const isReady = (base: string): Promise<boolean> =>
  fetch(`${base}/readyz`, { signal: AbortSignal.timeout(2000) }).then(
    ({ status }) => status === 200,
    () => false,
  );

/** Whether each service is ready, and the gateway reaches the others. Ports with TLS have no plain readiness. */
async function areReady({ public_url: base, gateway: { admin }, ...services }: TestConfig): Promise<boolean> {
  const others = [services.tasks, services.billing, services.media]
    .filter((service) => !('tls' in service))
    .map(({ http }) => `http://${http}`);
  if (!(await Promise.all([base, ...others].map(isReady))).every(Boolean)) return false;
  const metrics = await fetch(`http://${admin}/metrics`, { signal: AbortSignal.timeout(5000) }).then(
    (response) => response.text(),
    () => '',
  );
  return /^reelgate_peer_up\{/m.test(metrics) && !/^reelgate_peer_up\{.*\} 0$/m.test(metrics);
}

async function untilReady(
  ready: () => Promise<boolean>,
  children: () => readonly ChildProcess[],
  printed: () => string,
): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  for (;;) {
    const gone = children().find(({ exitCode }) => exitCode !== null);
    if (gone !== undefined)
      throw new Error(`a process ended while it started (${String(gone.exitCode)}): ${printed()}`);
    if (await ready()) return;
    if (performance.now() > deadline) throw new Error(`not ready in time: ${printed()}`);
    await wait(50);
  }
}

function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) {
      resolve();
      return;
    }
    const force = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    child.once('exit', () => {
      clearTimeout(force);
      resolve();
    });
    child.kill(signal);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
