import { execFile } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { until } from '@reelgate/platform/testing/until';
import { findProgram } from './find-program.ts';
import type { Launcher, RunningServer } from './launcher.ts';
import { redisServer } from './redis-server.ts';
import { newServerFolder } from './run-folder.ts';
import { startProcess } from './start-process.ts';

const NODES = 3;
const CREATE_TIMEOUT_MS = 60_000;
const run = promisify(execFile);

/** A cluster of three Redis servers on this machine. Its URL is that of one of them. */
export const redisCluster: Launcher = {
  name: 'Redis Cluster',
  missing: () => redisServer.missing() ?? (findProgram('redis-cli') === undefined ? 'no redis-cli here' : undefined),
  start: async () => {
    const nodes = await Promise.all(Array.from({ length: NODES }, startNode));
    const hosts = nodes.map(({ url }) => new URL(url).host);
    const cli = findProgram('redis-cli') ?? '';
    await run(cli, ['--cluster', 'create', ...hosts, '--cluster-yes'], { timeout: CREATE_TIMEOUT_MS });
    await Promise.all(hosts.map((host) => waitForCluster(cli, host)));
    const [first] = nodes;
    if (first === undefined) return undefined;
    return { ...first, stop: () => Promise.all(nodes.map((node) => node.stop())).then(() => undefined) };
  },
};

/** Resolves when the node serves all keys. */
async function waitForCluster(cli: string, host: string): Promise<void> {
  await until(async () => {
    const { stdout } = await run(cli, ['-u', `redis://${host}`, 'cluster', 'info'], { timeout: CREATE_TIMEOUT_MS });
    return stdout.includes('cluster_state:ok');
  });
}

/** A Sentinel, which watches no master of these tests. */
export const redisSentinel: Launcher = {
  name: 'Redis Sentinel',
  missing: () => redisServer.missing(),
  start: async () => {
    const folder = newServerFolder('redis-sentinel');
    const file = path.join(folder, 'data', 'sentinel.conf');
    writeFileSync(file, 'bind 127.0.0.1\n');
    // it writes its state there, as another user than that of the tests
    chmodSync(file, 0o666);
    return startRedis(folder, (port) => [file, '--sentinel', '--port', String(port)], /Sentinel ID is/);
  },
};

function startNode(): Promise<RunningServer> {
  const folder = newServerFolder('redis-node');
  const data = ['--bind', '127.0.0.1', '--dir', path.join(folder, 'data'), '--save', '', '--appendonly', 'no'];
  // as long as Redis waits by default: a node that the machine lets wait is not down
  const cluster = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '15000'];
  // the bus of the nodes has a port 10,000 above by default, which can be too large
  const ports = (port: number) => ['--port', String(port), '--cluster-port', String(port - 10_000)];
  return startRedis(folder, (port) => [...ports(port), ...data, ...cluster], /ready to accept connections/i);
}

function startRedis(folder: string, args: (port: number) => readonly string[], ready: RegExp): Promise<RunningServer> {
  return startProcess({
    program: findProgram('redis-server') ?? '',
    folder,
    args,
    ready,
    url: (port) => `redis://127.0.0.1:${port}`,
  });
}
