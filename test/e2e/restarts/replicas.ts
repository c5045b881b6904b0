import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startServiceProxy } from '../../cluster/service-proxy.ts';
import { SHAPES } from '../../harness/program.ts';
import type { ServiceProcess } from '../../harness/program.ts';
import type { TestConfig } from '../../harness/test-config.ts';

const MAIN = path.join(import.meta.dirname, '../../../deploy/program/main.ts');
const HOSTS = ['127.0.0.2', '127.0.0.3'] as const;
const READY_TIMEOUT_MS = 150_000;
const STOP_TIMEOUT_MS = 120_000;
const PROBE_TIMEOUT_MS = 2000;
const LOOK_MS = 50;
const OUTPUT_KEPT = 4 * 1024 * 1024;

export const SERVICES = SHAPES['four processes'];

/** One of the two processes of a service. */
export interface ReplicaName {
  readonly service: ServiceProcess;
  readonly host: (typeof HOSTS)[number];
}

export const REPLICAS: readonly ReplicaName[] = SERVICES.flatMap((service) => HOSTS.map((host) => ({ service, host })));
export const nameReplica = ({ service, host }: ReplicaName): string => `${service} ${host === HOSTS[0] ? 'a' : 'b'}`;

/** Two processes of each service, each with an address of its own. A proxy stands before those that HTTP reaches. */
export interface ReplicatedProgram {
  readonly base: string;
  /** The lines that all processes have written and that hold this text. */
  linesWith(text: string): readonly string[];
  /** Starts every process. Resolves when all are ready. */
  start(): Promise<void>;
  /** Ends a process by the signal, starts it again, and resolves when it is ready. Returns its exit code. */
  restart(replica: ReplicaName, signal: NodeJS.Signals): Promise<number | null>;
  end(): Promise<void>;
}

export async function newReplicatedProgram(config: TestConfig): Promise<ReplicatedProgram> {
  const dir = mkdtempSync(path.join(tmpdir(), 'reelgate-replicas-'));
  const children = new Map<string, ChildProcess>();
  /** The processes that connections are sent to. */
  const ready = new Set<string>();
  let printed = '';
  const proxies = await Promise.all(
    (
      [
        ['gateway', config.gateway.listen],
        ['media', config.media.http],
      ] as const
    ).map(([service, listen]) =>
      startServiceProxy({
        address: '127.0.0.1',
        port: portOf(listen),
        targetPort: portOf(listen),
        endpoints: () => HOSTS.filter((host) => ready.has(nameReplica({ service, host }))),
        chance: Math.random,
      }),
    ),
  );

  const start = async (replica: ReplicaName): Promise<void> => {
    const name = nameReplica(replica);
    const own = path.join(dir, name.replace(' ', '-'));
    mkdirSync(own, { recursive: true });
    const file = path.join(own, 'reelgate.yaml');
    const { at, readyAt } = buildConfig(config, replica);
    writeFileSync(file, JSON.stringify({ ...at, data_dir: own }));
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, replica.service], {
      cwd: own,
      env: { ...process.env, REELGATE_CONFIG: file, NODE_OPTIONS: '' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.set(name, child);
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (part: Buffer) => {
        printed = `${printed}${part.toString()}`.slice(-OUTPUT_KEPT);
      });
    const deadline = performance.now() + READY_TIMEOUT_MS;
    while (!(await isReady(readyAt))) {
      if (!isRunning(child)) throw new Error(`${name} ended while it started: ${printed.slice(-4000)}`);
      if (performance.now() > deadline) throw new Error(`${name} is not ready in time: ${printed.slice(-4000)}`);
      await wait(LOOK_MS);
    }
    ready.add(name);
  };

  const stop = async (replica: ReplicaName, signal: NodeJS.Signals): Promise<number | null> => {
    const name = nameReplica(replica);
    const child = children.get(name);
    if (child === undefined || !isRunning(child)) return child?.exitCode ?? null;
    const ended = once(child, 'exit') as Promise<[number | null]>;
    const force = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    ready.delete(name);
    child.kill(signal);
    const [code] = await ended;
    clearTimeout(force);
    return code;
  };

  return {
    base: config.public_url,
    linesWith: (text) => printed.split('\n').filter((line) => line.includes(text)),
    start: async () => {
      await Promise.all(REPLICAS.map(start));
    },
    restart: async (replica, signal) => {
      const code = await stop(replica, signal);
      await start(replica);
      return code;
    },
    end: async () => {
      await Promise.all(REPLICAS.map((replica) => stop(replica, 'SIGTERM')));
      await Promise.all(proxies.map((proxy) => proxy.close()));
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

const isRunning = (child: ChildProcess): boolean => child.exitCode === null && child.signalCode === null;
const portOf = (listen: string): number => Number(listen.slice(listen.lastIndexOf(':') + 1));

/** The configuration of a process: its own addresses to listen on, and both of those that it calls. */
function buildConfig(
  config: TestConfig,
  { service, host }: ReplicaName,
): { readonly at: TestConfig; readonly readyAt: string } {
  const { gateway, tasks, billing, media } = config;
  const here = (listen: string): string => `${host}:${portOf(listen)}`;
  const both = (listen: string): string => `ipv4:${HOSTS.map((one) => `${one}:${portOf(listen)}`).join(',')}`;
  const services = {
    ...gateway.services,
    tasks: both(tasks.listen),
    billing: both(billing.listen),
    media: both(media.listen),
  };
  const at = {
    ...config,
    gateway: { ...gateway, listen: here(gateway.listen), admin: here(gateway.admin), services },
    tasks: { ...tasks, listen: here(tasks.listen), http: here(tasks.http) },
    billing: { ...billing, listen: here(billing.listen), http: here(billing.http) },
    media: { ...media, listen: here(media.listen), http: here(media.http) },
  };
  return { at, readyAt: service === 'gateway' ? at.gateway.listen : at[service].http };
}

function isReady(address: string): Promise<boolean> {
  return fetch(`http://${address}/readyz`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) }).then(
    ({ status }) => status === 200,
    () => false,
  );
}
