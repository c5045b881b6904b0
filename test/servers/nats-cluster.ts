import path from 'node:path';
import { freePorts } from '../harness/free-ports.ts';
import { findProgram } from './find-program.ts';
import type { RunningServer } from './launcher.ts';
import { newServerFolder } from './run-folder.ts';
import { startProcess } from './start-process.ts';

const PROGRAM = 'nats-server';

/** One server of a cluster. `stop` kills it, and its store is gone. */
export interface NatsMember extends RunningServer {
  readonly name: string;
}

/** NATS servers with JetStream, which form a cluster a few seconds later. */
export async function startNatsCluster(size: number): Promise<readonly NatsMember[]> {
  const ports = await freePorts(size);
  const routes = ports.map((port) => `nats://127.0.0.1:${port}`);
  return Promise.all(
    routes.map(async (route, index) => {
      const name = `member-${index}`;
      const folder = newServerFolder(`nats-${name}`);
      const server = await startProcess({
        program: findProgram(PROGRAM) ?? PROGRAM,
        folder,
        args: (port) => [
          ...['--addr', '127.0.0.1', '--port', String(port)],
          ...['--jetstream', '--store_dir', path.join(folder, 'data')],
          ...['--server_name', name, '--cluster_name', 'cluster', '--cluster', route, '--routes', routes.join(',')],
        ],
        ready: /Server is ready/,
        url: (port) => `nats://127.0.0.1:${port}`,
        stopSignal: 'SIGKILL',
      });
      return { ...server, name };
    }),
  );
}
