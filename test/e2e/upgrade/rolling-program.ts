import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePorts } from '../../harness/free-ports.ts';
import type { TestConfig } from '../../harness/test-config.ts';

const READY_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 60_000;
const PROBE_TIMEOUT_MS = 2000;
const LOOK_MS = 50;
const OUTPUT_KEPT = 20_000;

/** The folder of the release of this checkout. */
export const THIS_RELEASE = path.join(import.meta.dirname, '../../..');

/** The processes: two tasks processes and two gateways, each of which calls the tasks process of its name. */
export const REPLICAS = {
  billing: 'billing',
  media: 'media',
  'tasks a': 'tasks',
  'tasks b': 'tasks',
  'gateway a': 'gateway',
  'gateway b': 'gateway',
} as const;
export type ReplicaName = keyof typeof REPLICAS;
export const REPLICA_NAMES = Object.keys(REPLICAS) as readonly ReplicaName[];

/** Processes over one store, each of which runs the sources of the folder that it was last started from. */
export interface RollingProgram {
  /** The public URLs of both gateways. */
  readonly bases: readonly [string, string];
  /** The last output of all processes. */
  output(): string;
  /** Starts the process from the sources in a folder, and resolves when it is ready. */
  start(name: ReplicaName, folder: string): Promise<void>;
  /** Gives a process a changed configuration while it runs. */
  reload(name: ReplicaName, change: (config: TestConfig) => object): void;
  /** The number of tasks that wait for a channel, as a tasks process counts them. */
  countWaiting(name: 'tasks a' | 'tasks b'): Promise<number>;
  /** Ends the process by the signal. Returns its exit code; null: the signal ended it. */
  stop(name: ReplicaName, signal: NodeJS.Signals): Promise<number | null>;
  /** Ends every process and removes their configurations. */
  end(): Promise<void>;
}

export async function newRollingProgram(config: TestConfig): Promise<RollingProgram> {
  const dir = mkdtempSync(path.join(tmpdir(), 'reelgate-rolling-'));
  const configs = await buildConfigs(config);
  const children = new Map<ReplicaName, ChildProcess>();
  let printed = '';
  const isRunning = (child: ChildProcess): boolean => child.exitCode === null && child.signalCode === null;

  const fileOf = (name: ReplicaName): string => path.join(dir, `${name.replace(' ', '-')}.yaml`);

  const start = async (name: ReplicaName, folder: string): Promise<void> => {
    const file = fileOf(name);
    const { config } = configs[name];
    writeFileSync(file, JSON.stringify(folder === THIS_RELEASE ? config : withoutQueue(config)));
    const child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', path.join(folder, 'deploy/program/main.ts'), REPLICAS[name]],
      { cwd: dir, env: { ...process.env, REELGATE_CONFIG: file, NODE_OPTIONS: '' }, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    children.set(name, child);
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (part: Buffer) => {
        printed = `${printed}${part.toString()}`.slice(-OUTPUT_KEPT);
      });
    const deadline = performance.now() + READY_TIMEOUT_MS;
    while (!(await isReady(configs[name].readyAt))) {
      if (!isRunning(child)) throw new Error(`${name} from ${folder} ended while it started: ${printed}`);
      if (performance.now() > deadline) throw new Error(`${name} from ${folder} is not ready in time: ${printed}`);
      await wait(LOOK_MS);
    }
  };

  const stop = async (name: ReplicaName, signal: NodeJS.Signals): Promise<number | null> => {
    const child = children.get(name);
    if (child === undefined || !isRunning(child)) throw new Error(`${name} does not run: ${printed}`);
    const ended = once(child, 'exit') as Promise<[number | null]>;
    const force = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    child.kill(signal);
    const [code] = await ended;
    clearTimeout(force);
    return code;
  };

  return {
    bases: [`http://${configs['gateway a'].readyAt}`, `http://${configs['gateway b'].readyAt}`],
    output: () => printed,
    start,
    reload: (name, change) => {
      writeFileSync(fileOf(name), JSON.stringify(change(configs[name].config)));
      children.get(name)?.kill('SIGHUP');
    },
    countWaiting: async (name) => {
      const scraped = await fetch(`http://${configs[name].readyAt}/metrics`, {
        signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
      });
      const counts = (await scraped.text()).matchAll(/^reelgate_tasks_waiting(?:\{[^}]*\})? (\d+)$/gm);
      return counts.reduce((sum, [, count]) => sum + Number(count), 0);
    },
    stop,
    end: async () => {
      const running = REPLICA_NAMES.filter((name) => {
        const child = children.get(name);
        return child !== undefined && isRunning(child);
      });
      await Promise.all(running.map((name) => stop(name, 'SIGTERM')));
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** The release before does not know the queue. */
function withoutQueue({ tasks: { queue: _queue, ...tasks }, ...config }: TestConfig): object {
  return { ...config, tasks };
}

interface ReplicaConfig {
  readonly config: TestConfig;
  /** `host:port` of its readiness. */
  readonly readyAt: string;
}

/** The first replicas have the ports of the configuration, the second ones further ports. */
async function buildConfigs(config: TestConfig): Promise<Readonly<Record<ReplicaName, ReplicaConfig>>> {
  const { gateway, tasks, billing, media } = config;
  const [grpc, http, open, admin] = (await freePorts(4)).map((port) => `127.0.0.1:${port}`);
  if (grpc === undefined || http === undefined || open === undefined || admin === undefined)
    throw new Error('a program with two replicas needs four further ports');
  const services = { ...gateway.services, tasks: grpc };
  return {
    billing: { config, readyAt: billing.http },
    media: { config, readyAt: media.http },
    'tasks a': { config, readyAt: tasks.http },
    'tasks b': { config: { ...config, tasks: { ...tasks, listen: grpc, http } }, readyAt: http },
    'gateway a': { config, readyAt: gateway.listen },
    'gateway b': { config: { ...config, gateway: { ...gateway, listen: open, admin, services } }, readyAt: open },
  };
}

function isReady(address: string): Promise<boolean> {
  return fetch(`http://${address}/readyz`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) }).then(
    ({ status }) => status === 200,
    () => false,
  );
}
