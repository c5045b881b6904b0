import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { S3_KEYS, startS3Server } from '../../services/media/testing/s3-server.ts';
import { openPostgres } from '@reelgate/platform/sql/postgres';
import { newDatabases } from '../harness/databases.ts';
import { withRelay } from '../harness/relay-config.ts';
import { startRelayUpstream } from '../harness/relay-upstream/relay-upstream.ts';
import type { RelayUpstream } from '../harness/relay-upstream/relay-upstream.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import { testConfig } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';
import { startBusLine } from './bus-line.ts';
import type { BusLine } from './bus-line.ts';
import { PORTS, SERVICES, checkoutDeployment } from './checkout-pods.ts';
import type { CheckoutPods, ServiceName } from './checkout-pods.ts';
import { openCluster } from './cluster.ts';
import type { Cluster } from './cluster.ts';
import type { Deployment } from './deployment.ts';
import { smallDisk } from '../harness/small-disk.ts';
import type { SmallDisk } from '../harness/small-disk.ts';
import { STORES, startStore } from './stores.ts';
import type { StoreName, StoreServer } from './stores.ts';

const MAIN = path.join(import.meta.dirname, '../../deploy/cli/main.ts');
const COMMAND_BYTES_MAX = 64 * 1024 * 1024;
const COMMAND_TIMEOUT_MS = 60_000;
/** Ready pods are in the names a second later, and clients resolve a name again a second after that. */
const KNOWN_MS = 2500;

export interface ReelgateClusterOptions extends Pick<CheckoutPods, 'replicas' | 'minReadyMs' | 'readinessPeriodMs'> {
  readonly seed: number;
  readonly env?: CheckoutPods['env'];
  /** Changes the configuration that every test has. */
  readonly change?: (config: TestConfig) => TestConfig;
}

/** The four services as Deployments, with their stores, the bus line and both upstreams. */
export interface ReelgateCluster {
  readonly cluster: Cluster;
  /** The public address. */
  readonly base: string;
  readonly upstream: ScriptedUpstream;
  readonly relay: RelayUpstream;
  readonly stores: Readonly<Record<StoreName, StoreServer>>;
  /** The disks of the stores, and the one that all pods have for temporary files. */
  readonly disks: Readonly<Record<DiskName, SmallDisk>>;
  readonly bus: BusLine;
  readonly deployments: Readonly<Record<ServiceName, Deployment>>;
  /** Resolves when all replicas of all services are available. */
  available(): Promise<void>;
  /** The operator's command line, with --json, from a namespace of its own. */
  command(...args: readonly string[]): Promise<{ code: number; out: string; err: string; json: unknown }>;
  /** The number of financial events that end a hold, for each task, as billing's database has them. */
  endingEvents(): Promise<ReadonlyMap<string, number>>;
  close(): Promise<void>;
}

export async function startReelgateCluster(options: ReelgateClusterOptions): Promise<ReelgateCluster> {
  const cluster = await openCluster({ seed: options.seed });
  const opened: (() => Promise<unknown>)[] = [() => cluster.close()];
  const close = async (): Promise<void> => {
    for (const end of opened) await end();
  };
  try {
    return await assemble(cluster, options, { opened, close });
  } catch (error) {
    await close();
    throw error;
  }
}

interface Closing {
  readonly opened: (() => Promise<unknown>)[];
  readonly close: () => Promise<void>;
}

async function assemble(
  cluster: Cluster,
  { seed: _seed, change = (config) => config, env, ...bounds }: ReelgateClusterOptions,
  { opened, close }: Closing,
): Promise<ReelgateCluster> {
  const { address } = cluster.network;
  const disks = openDisks();
  opened.push(async () => {
    for (const disk of Object.values(disks)) disk.close();
  });
  const [postgres, redis, nats] = await Promise.all(
    STORES.map((name) => startStore(cluster, name, disks[name].folder)),
  );
  const stores = { postgres, redis, nats } as Record<StoreName, StoreServer>;
  const bus = await startBusLine(address, { host: stores.nats.address, port: stores.nats.port });
  opened.push(() => bus.close());
  cluster.name('bus', address);
  const [upstream, relay, s3] = await Promise.all([
    startScriptedUpstream(address),
    startRelayUpstream(address),
    startS3Server(address),
  ]);
  opened.push(
    () => upstream.stop(),
    () => relay.stop(),
    () => s3.close(),
  );
  const base = await addServices(cluster);
  await newDatabases(`postgres://postgres@${stores.postgres.address}:5432/postgres`);
  const databaseOf = (name: string): string => `postgres://postgres@postgres:5432/${name}`;
  const plain = await testConfig({
    dir: cluster.folder,
    upstream: upstream.host,
    bus: 'nats://bus:4222',
    redis: 'redis://redis:6379',
    databases: { tasks: databaseOf('tasks'), billing: databaseOf('billing'), media: databaseOf('media') },
  });
  const withBucket = {
    ...plain,
    public_url: base,
    media: { ...plain.media, blobs: `s3://${s3.bucket}/kept?endpoint=${s3.endpoint}`, s3: S3_KEYS },
  };
  const config = change(withRelay({ upstream: relay.host, nobody: `${address}:1` })(withBucket));
  const pods = {
    ...bounds,
    config,
    folder: cluster.folder,
    temporary: disks.temporary.folder,
    ...(env === undefined ? {} : { env }),
  };
  const started = await Promise.all(
    SERVICES.map(async (service) => [service, await cluster.deploy(checkoutDeployment(service, pods))] as const),
  );
  const deployments = Object.fromEntries(started) as Record<ServiceName, Deployment>;
  const command = operatorOf(cluster, config);
  const available = async (): Promise<void> => {
    await Promise.all(Object.values(deployments).map((deployment) => deployment.available()));
    await wait(KNOWN_MS);
  };
  const endingEvents = (): Promise<ReadonlyMap<string, number>> =>
    endingEventsIn(`postgres://postgres@${stores.postgres.address}:5432/billing`);
  return { cluster, base, upstream, relay, stores, disks, bus, deployments, available, command, endingEvents, close };
}

const DISK_SIZES = { postgres: '512m', redis: '16m', nats: '64m', temporary: '16m' } as const;
export type DiskName = keyof typeof DISK_SIZES;

function openDisks(): Record<DiskName, SmallDisk> {
  const open = (size: string): SmallDisk => {
    const disk = smallDisk(size);
    if (disk === undefined) throw new Error('no file system can be mounted here');
    return disk;
  };
  return {
    postgres: open(DISK_SIZES.postgres),
    redis: open(DISK_SIZES.redis),
    nats: open(DISK_SIZES.nats),
    temporary: open(DISK_SIZES.temporary),
  };
}

/** Adds the Services. Returns the public address. */
async function addServices(cluster: Cluster): Promise<string> {
  const same = (port: number): { port: number; targetPort: number } => ({ port, targetPort: port });
  for (const name of ['tasks', 'billing', 'media'] as const) {
    const { grpc, http } = PORTS[name];
    await cluster.addService({ name: `${name}-grpc`, selects: name, headless: true, ports: [same(grpc)] });
    await cluster.addService({ name, selects: name, headless: false, ports: [same(http)] });
  }
  const { public: port } = PORTS.gateway;
  const vip = await cluster.addService({ name: 'gateway', selects: 'gateway', headless: false, ports: [same(port)] });
  return `http://${String(vip)}:${port}`;
}

async function endingEventsIn(database: string): Promise<ReadonlyMap<string, number>> {
  const sql = openPostgres(database, { connections: 1 });
  try {
    const rows = await sql.read(
      `SELECT task_id, count(*) AS events FROM financial_events
       WHERE task_id IS NOT NULL AND kind IN ('settle', 'release') GROUP BY task_id`,
    );
    return new Map(rows.map((row) => [String(row['task_id']), Number(row['events'])]));
  } finally {
    await sql.close();
  }
}

function operatorOf(cluster: Cluster, config: TestConfig): ReelgateCluster['command'] {
  const { name } = cluster.network.addNamespace('operator');
  const folder = path.join(cluster.folder, 'operator');
  mkdirSync(folder);
  const file = path.join(folder, 'reelgate.yaml');
  const { tasks, billing, media } = PORTS;
  const services = {
    tasks: `tasks-grpc:${tasks.grpc}`,
    billing: `billing-grpc:${billing.grpc}`,
    media: `media-grpc:${media.grpc}`,
    media_http: `media:${media.http}`,
  };
  writeFileSync(file, JSON.stringify({ ...config, data_dir: folder, gateway: { ...config.gateway, services } }));
  const env = { ...process.env, REELGATE_CONFIG: file, NODE_OPTIONS: '' };
  const program = [process.execPath, '--disable-warning=ExperimentalWarning', MAIN];
  return (...args) =>
    new Promise((resolve, reject) => {
      execFile(
        'ip',
        ['netns', 'exec', name, ...program, ...args, '--json'],
        { env, maxBuffer: COMMAND_BYTES_MAX, timeout: COMMAND_TIMEOUT_MS },
        (error, out, err) => {
          // An error without an exit code, such as too much output, is not an answer of the command.
          if (error !== null && typeof error.code !== 'number') reject(new Error(`no answer: ${error.message} ${err}`));
          else resolve({ code: Number(error?.code ?? 0), out, err, json: parsed(out) });
        },
      );
    });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
