import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePorts } from './free-ports.ts';
import type { Program } from './program.ts';

const MAIN = path.join(import.meta.dirname, '../../deploy/program/main.ts');
const READY_TIMEOUT_MS = 60_000;

/** A second process of one service, with the stores and the bus of the first. */
export interface Replica {
  /** `host:port` of its gRPC port. */
  readonly listen: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts a second tasks process beside a program of four processes. */
export async function startTasksReplica({ config }: Pick<Program, 'config'>): Promise<Replica> {
  const [grpc = 0, http = 0] = await freePorts(2);
  const listen = `127.0.0.1:${grpc}`;
  const httpListen = `127.0.0.1:${http}`;
  const own = { ...config, tasks: { ...config.tasks, listen, http: httpListen } };
  return { listen, ...(await startProcess('tasks', own, httpListen)) };
}

/** Starts a second gateway process. `listen` is its public port, `admin` its admin port. */
export async function startGatewayReplica({
  config,
}: Pick<Program, 'config'>): Promise<Replica & { readonly admin: string }> {
  const [http = 0, adminPort = 0] = await freePorts(2);
  const listen = `127.0.0.1:${http}`;
  const admin = `127.0.0.1:${adminPort}`;
  const own = { ...config, gateway: { ...config.gateway, listen, admin } };
  return { listen, admin, ...(await startProcess('gateway', own, listen)) };
}

/** Resolves when the process is ready at this address. */
async function startProcess(
  service: 'tasks' | 'gateway',
  config: object,
  readyAt: string,
): Promise<Pick<Replica, 'pid' | 'stop'>> {
  const dir = mkdtempSync(path.join(tmpdir(), 'reelgate-replica-'));
  const file = path.join(dir, 'reelgate.yaml');
  writeFileSync(file, JSON.stringify(config));
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, service], {
    env: { ...process.env, REELGATE_CONFIG: file, NODE_OPTIONS: '' },
    stdio: 'ignore',
  });
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    }
    rmSync(dir, { recursive: true, force: true });
  };
  const deadline = performance.now() + READY_TIMEOUT_MS;
  for (;;) {
    const isReady = await fetch(`http://${readyAt}/readyz`, { signal: AbortSignal.timeout(2000) }).then(
      ({ status }) => status === 200,
      () => false,
    );
    if (isReady) return { pid: child.pid ?? 0, stop };
    if (child.exitCode !== null || performance.now() > deadline) {
      await stop();
      throw new Error('the second process did not become ready');
    }
    await wait(50);
  }
}
