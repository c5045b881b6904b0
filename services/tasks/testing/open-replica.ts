import type { Bus } from '@reelgate/platform/bus/bus';
import { newLocalBus } from '@reelgate/platform/bus/local-bus';
import { systemClock } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import type { RunningService } from '@reelgate/platform/foundation';
import { newIds, systemRandom } from '@reelgate/platform/ids';
import { silentLog } from '@reelgate/platform/log';
import { newMetrics } from '@reelgate/platform/metrics/metrics';
import type { Metrics } from '@reelgate/platform/metrics/metrics';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import type { Client } from '@reelgate/platform/rpc/service';
import { Secret, acceptOnly } from '@reelgate/platform/secret';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { NO_TRACING } from '@reelgate/platform/trace/trace';
import { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import { TaskService } from '@reelgate/proto/tasks/v1/task_service';
import { startTasks } from '../src/app.ts';
import type { TasksPeers } from '../src/app.ts';
import { tasksConfig } from '../src/config.ts';

/** For a busy machine. */
const REDIS_DEADLINE_MS = 5000;
const PUBLIC_URL = 'https://gateway.example';

/** A whole tasks service. Several on one database are replicas. */
export interface Replica {
  readonly service: RunningService;
  readonly metrics: Metrics;
  readonly client: Client<typeof TaskService>;
  readonly operator: Client<typeof OperatorService>;
  stop(): Promise<void>;
}

export interface ReplicaOptions {
  readonly database: string;
  readonly redis?: string | undefined;
  readonly dataDir: string;
  readonly clock: Clock;
  readonly channels: readonly object[];
  /** Absent: it hears no other replica. */
  readonly bus?: Bus;
}

/** An entry of `channels`. */
export const channelEntry = (id: string, url: string, perMinute: number): object => ({
  id,
  adapter: 'alpha-v2',
  base_url: url,
  api_key: 'key',
  upstream_account: 'vendor',
  endpoints: ['video.generation'],
  models: { 'Alpha-H3': 'MiniMax-H3' },
  priority: 0,
  weight: 1,
  enabled: true,
  limits: { requests_per_minute: perMinute, in_flight: 1000, polls_per_minute: 6000 },
  timeouts: { submit: '60s', poll: '20s' },
  reconcile: 'list',
});

const settings = ({ database, redis, channels }: ReplicaOptions): object => ({
  tasks: {
    database,
    ...(redis === undefined ? {} : { redis }),
    in_flight: { per_token: 1000, total: 1000 },
    poll: { first: '1h', factor: 1, max: '1h', soft_deadline: '30m', hard_deadline: '24h' },
    retention: '90d',
    queue: {
      enabled: false,
      per_account: 1000,
      total: 100_000,
      longest_wait: { interactive: '2m', standard: '1h', batch: '24h' },
    },
    jobs: { per_token: 100, total: 10_000, lease: '20s', deadline: '1h' },
    batch: { in_flight: 100, per_account: 100, lease: '20s', retention: '30d' },
  },
  webhooks: { allow: [], retention: '30d', endpoints_per_account: 20 },
  models: { 'Alpha-H3': { duration: [4, 15], resolutions: ['768P', '2K'], ratios: ['adaptive', '16:9'] } },
  channels,
});

/** Billing and media that accept everything. */
const peers = {
  billing: new Proxy(
    {},
    {
      get: (_none, method) => async () =>
        method === 'getPrincipal' ? { principal: { accountId: 'acme', models: ['*'], makers: [] } } : {},
    },
  ),
  media: {},
  calls: {},
  bytes: { read: async () => Buffer.alloc(0) },
} as unknown as TasksPeers;

/** Starts a replica. The caller stops it. */
export async function openReplica(options: ReplicaOptions): Promise<Replica> {
  const own = options.bus === undefined ? newLocalBus(systemClock, silentLog) : undefined;
  const bus = own ?? options.bus;
  if (bus === undefined) throw new Error('a replica has a bus');
  const metrics = newMetrics(false);
  const service = await startTasks(
    { ...tasksConfig(settings(options), PUBLIC_URL), redisDeadlineMs: REDIS_DEADLINE_MS },
    {
      clock: options.clock,
      random: systemRandom,
      newId: newIds(systemClock),
      log: silentLog,
      metrics,
      bus,
      signingKey: new Secret('key'),
      acceptedKeys: acceptOnly(new Secret('key')),
      tracing: NO_TRACING,
      publicUrl: PUBLIC_URL,
      dataDir: options.dataDir,
    },
    peers,
  );
  return {
    service,
    metrics,
    client: directClient(TaskService, service.bindings[0]!, aCaller()),
    operator: directClient(OperatorService, service.bindings[1]!, aCaller()),
    stop: async () => {
      await service.stop();
      await own?.close();
    },
  };
}
