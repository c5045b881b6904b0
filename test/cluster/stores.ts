import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { findProgram } from '../servers/find-program.ts';
import { findPostgres, preparePostgres } from '../servers/postgres-programs.ts';
import { unprivilegedUser } from '../servers/unprivileged.ts';
import type { Cluster } from './cluster.ts';
import { onMachine, startContainer } from './container.ts';
import type { Container } from './container.ts';
import type { Namespace } from './network.ts';

const START_TIMEOUT_MS = 60_000;
const INITDB_TIMEOUT_MS = 60_000;

export const STORES = ['postgres', 'redis', 'nats'] as const;
export type StoreName = (typeof STORES)[number];

/** A store server with an address of its own, which can be stopped and killed. */
export interface StoreServer {
  readonly namespace: Namespace;
  readonly address: string;
  readonly port: number;
  /** Stops every process of the server (SIGSTOP). Its connections stay open. */
  freeze(): void;
  thaw(): void;
  /** Ends the server at once (SIGKILL). */
  kill(): Promise<void>;
  /** Starts it with the data that it had, unless it runs. Resolves when it takes connections. */
  start(): Promise<void>;
}

interface ServerKind {
  readonly port: number;
  readonly command: (data: string) => readonly string[];
  /** Makes the data of the first start. */
  readonly prepare?: (data: string) => void;
}

const KINDS: Readonly<Record<StoreName, () => ServerKind>> = {
  postgres: () => {
    const bin = preparePostgres(findPostgres() ?? '');
    const settings = ['full_page_writes=off', 'shared_buffers=64MB', 'max_connections=400'];
    return {
      port: 5432,
      prepare: (data) => {
        const args = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
        const options = { cwd: data, timeout: INITDB_TIMEOUT_MS, ...unprivilegedUser() };
        execFileSync(path.join(bin, 'initdb'), args, { ...options, stdio: 'ignore' });
        execFileSync('sh', ['-c', 'echo "host all all 10.231.0.0/16 trust" >> pg_hba.conf'], { cwd: data });
      },
      command: (data) => [
        ...[path.join(bin, 'postgres'), '-D', data, '-p', '5432', '-h', '0.0.0.0', '-k', '', '-F'],
        ...settings.flatMap((setting) => ['-c', setting]),
      ],
    };
  },
  redis: () => ({
    port: 6379,
    command: (data) => [
      ...[programOf('redis-server'), '--port', '6379', '--bind', '0.0.0.0', '--protected-mode', 'no'],
      ...['--dir', data, '--save', '', '--appendonly', 'no'],
    ],
  }),
  nats: () => ({
    port: 4222,
    command: (data) => [
      ...[programOf('nats-server'), '--addr', '0.0.0.0', '--port', '4222', '--jetstream', '--store_dir', data],
    ],
  }),
};

/** Why a store cannot run on this machine; undefined if all can. */
export function missingStore(): string | undefined {
  if (findPostgres() === undefined) return 'no PostgreSQL here (Debian: apt-get install postgresql)';
  const absent = ['redis-server', 'nats-server'].find((program) => findProgram(program) === undefined);
  return absent === undefined ? undefined : `no ${absent} here (Debian: apt-get install ${absent})`;
}

const programOf = (name: string): string => findProgram(name) ?? name;

/** Starts a store in a namespace of its own, under its own name. `folder` is the disk for its data. */
export async function startStore(
  cluster: Cluster,
  name: StoreName,
  folder: string = cluster.folder,
): Promise<StoreServer> {
  const { port, command, prepare } = KINDS[name]();
  const user = unprivilegedUser();
  const data = path.join(folder, name);
  mkdirSync(data, { mode: 0o700 });
  for (const entered of [cluster.folder, folder]) chmodSync(entered, 0o755);
  if (user !== undefined) chownSync(data, user.uid, user.gid);
  prepare?.(data);
  const namespace = cluster.network.addNamespace(name);
  const { address } = namespace;
  const logFile = path.join(cluster.folder, 'logs', `${name}.log`);
  let container: Container | undefined;
  const start = async (): Promise<void> => {
    if (container?.exited === false) return;
    const spec = { command: command(data), env: { PATH: process.env['PATH'] ?? '' }, cwd: data };
    container = await startContainer(onMachine(user === undefined ? spec : { ...spec, user }), namespace, logFile);
    const deadline = performance.now() + START_TIMEOUT_MS;
    while (!(await accepts(address, port))) {
      if (container.exited || performance.now() > deadline)
        throw new Error(`${name} does not start: ${container.output()}`);
      await wait(50);
    }
  };
  await start();
  cluster.name(name, address);
  return {
    namespace,
    address,
    port,
    freeze: () => {
      signalAll(namespace, 'SIGSTOP');
    },
    thaw: () => {
      signalAll(namespace, 'SIGCONT');
    },
    kill: async () => {
      container?.kill('SIGKILL');
      await container?.ended;
    },
    start,
  };
}

/** Signals what runs in the namespace, the children of the server with it. */
function signalAll({ name }: Namespace, signal: NodeJS.Signals): void {
  const pids = execFileSync('ip', ['netns', 'pids', name], { encoding: 'utf8' });
  for (const pid of pids.split('\n').filter(Boolean)) process.kill(Number(pid), signal);
}

function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => {
      resolve(false);
    });
  });
}
