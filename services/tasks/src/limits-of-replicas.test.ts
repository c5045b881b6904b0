import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { acceptOnly } from '@reelgate/platform/links/accepted-keys';
import { openLocalBus } from '@reelgate/platform/bus/local-bus';
import { systemClock } from '@reelgate/platform/clock';
import type { RunningService } from '@reelgate/platform/foundation';
import { newIds, systemRandom } from '@reelgate/platform/ids';
import { silentLog } from '@reelgate/platform/log';
import { openMetrics } from '@reelgate/platform/metrics/metrics';
import type { Metrics } from '@reelgate/platform/metrics/metrics';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import type { Client } from '@reelgate/platform/rpc/service';
import { Secret } from '@reelgate/platform/secret';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { createDatabase } from '@reelgate/platform/testing/create-database';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import { until } from '@reelgate/platform/testing/until';
import { NO_TRACING } from '@reelgate/platform/trace/trace-none';
import { TaskService } from '@reelgate/proto/tasks/v1/task_service';
import { openCuttableLine } from '../../../test/harness/cuttable-line.ts';
import { describeWith } from '../../../test/servers/describe-with.ts';
import { postgresServer } from '../../../test/servers/postgres-server.ts';
import { redisServer } from '../../../test/servers/redis-server.ts';
import { anOrder } from '../testing/orders.ts';
import { openScriptedUpstream } from '../testing/scripted-upstream.ts';
import type { ScriptedUpstream } from '../testing/scripted-upstream.ts';
import { startTasks } from './app.ts';
import type { TasksPeers } from './app.ts';
import { tasksConfig } from './config.ts';
import { toWireOrder } from './rpc/mapping-order.ts';

const PER_MINUTE = 10;
/** For a busy machine. */
const REDIS_DEADLINE_MS = 5000;
const PUBLIC_URL = 'https://gateway.example';
const SECONDS_A_MINUTE = 60;
const STEP_SECONDS = 4;

let dataDir = '';
let upstream: ScriptedUpstream;
let clock: FakeClock;
const ends: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'reelgate-limits-'));
  clock = fakeClock();
  upstream = await openScriptedUpstream();
  upstream.script(...Array.from({ length: 300 }, (_, id) => ({ status: 200, json: { task_id: `4240109857${id}` } })));
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  await upstream.close();
  rmSync(dataDir, { recursive: true });
});

const settings = (database: string, redis: string | undefined): object => ({
  tasks: {
    database,
    ...(redis === undefined ? {} : { redis }),
    in_flight: { per_token: 1000, total: 1000 },
    poll: { first: '1h', factor: 1, max: '1h', soft_deadline: '30m', hard_deadline: '24h' },
    retention: '90d',
    jobs: { per_token: 100, total: 10_000, lease: '20s', deadline: '1h' },
  },
  webhooks: { allow: [], retention: '30d', endpoints_per_account: 20 },
  models: { 'Alpha-H3': { duration: [4, 15], resolutions: ['768P', '2K'], ratios: ['adaptive', '16:9'] } },
  channels: [
    {
      id: 'main',
      adapter: 'alpha-v2',
      base_url: upstream.url,
      api_key: 'key',
      upstream_account: 'vendor',
      endpoints: ['video.generation'],
      models: { 'Alpha-H3': 'MiniMax-H3' },
      priority: 0,
      weight: 1,
      enabled: true,
      limits: { requests_per_minute: PER_MINUTE, in_flight: 1000, polls_per_minute: 6000 },
      timeouts: { submit: '60s', poll: '20s' },
      reconcile: 'list',
    },
  ],
});

/** Billing and media that accept everything. */
const peers = {
  billing: new Proxy(
    {},
    {
      get: (_none, method) => async () =>
        method === 'getPrincipal' ? { principal: { accountId: 'acme', models: ['*'] } } : {},
    },
  ),
  media: {},
  calls: {},
  bytes: { read: async () => Buffer.alloc(0) },
} as unknown as TasksPeers;

interface Replica {
  readonly service: RunningService;
  readonly metrics: Metrics;
  readonly client: Client<typeof TaskService>;
}

async function start(database: string, redis?: string): Promise<Replica> {
  const bus = openLocalBus(systemClock, silentLog);
  const metrics = openMetrics(false);
  const service = await startTasks(
    { ...tasksConfig(settings(database, redis), PUBLIC_URL), redisDeadlineMs: REDIS_DEADLINE_MS },
    {
      clock,
      random: systemRandom,
      newId: newIds(systemClock),
      log: silentLog,
      metrics,
      bus,
      signingKey: new Secret('key'),
      acceptedKeys: acceptOnly(new Secret('key')),
      tracing: NO_TRACING,
      publicUrl: PUBLIC_URL,
      dataDir,
    },
    peers,
  );
  ends.push(async () => {
    await service.stop();
    await bus.close();
  });
  return { service, metrics, client: directClient(TaskService, service.bindings[0]!, aCaller()) };
}

/** Two replicas that know of one another. */
async function startTwo(database: string, redis?: string): Promise<readonly [Replica, Replica]> {
  const two = [await start(database, redis), await start(database, redis)] as const;
  await until(async () => {
    await pass(1);
    const seen = await Promise.all(two.map(({ metrics }) => metrics.text()));
    return seen.every((text) => text.includes('reelgate_tasks_replicas 2'));
  });
  return two;
}

/** Creates over the replicas in turn. Returns how many orders reached the upstream. */
async function create(replicas: readonly Replica[], creates: number): Promise<number> {
  const before = upstream.requests.length;
  for (let one = 0; one < creates; one += 1) {
    const { client } = replicas[one % replicas.length]!;
    const order = { accountId: 'acme', tokenId: 'token_1', order: toWireOrder(anOrder()) };
    await client.createTask(order).catch((error: unknown) => {
      expect(String(error)).toContain('at its limit');
    });
  }
  return upstream.requests.length - before;
}

/** In steps that are shorter than the time after which Redis takes a replica for dead. */
async function pass(seconds: number): Promise<void> {
  for (let left = seconds; left > 0; left -= STEP_SECONDS) await clock.advance(Math.min(left, STEP_SECONDS) * 1000);
}

describeWith(postgresServer, 'two replicas of the tasks service', (postgres) => {
  let databases = 0;
  const newDatabase = (): Promise<string> => createDatabase(postgres(), `limits_${(databases += 1)}`);

  test('without Redis send an upstream no more than one replica may, in any minute', async () => {
    const database = await newDatabase();
    const replicas = await startTwo(database);

    expect(await create(replicas, 24)).toBe(PER_MINUTE);
    await pass(SECONDS_A_MINUTE - 1);
    expect(await create(replicas, 4)).toBe(0);
    await pass(1);
    expect(await create(replicas, 24)).toBe(PER_MINUTE);
  });

  test('without Redis leave their part to the other within seconds when they go', async () => {
    const database = await newDatabase();
    const [stays, goes] = await startTwo(database);
    expect(await create([stays], 20)).toBe(PER_MINUTE / 2);

    await goes.service.stop();
    await until(async () => {
      await pass(1);
      return (await stays.metrics.text()).includes('reelgate_tasks_replicas 1');
    });
    await pass(SECONDS_A_MINUTE);
    expect(await create([stays], 20)).toBe(PER_MINUTE);
  });

  describeWith(redisServer, 'and one Redis', (redis) => {
    test('send an upstream no more than one replica may, in any minute', async () => {
      const database = await newDatabase();
      const replicas = await startTwo(database, redis());

      expect(await create(replicas, 24)).toBe(PER_MINUTE);
      await pass(SECONDS_A_MINUTE - 1);
      expect(await create(replicas, 4)).toBe(0);
      await pass(1);
      expect(await create(replicas, 24)).toBe(PER_MINUTE);
    });

    test('keep to it when Redis dies in the middle, and share again when it is back', async () => {
      const database = await newDatabase();
      const line = await openCuttableLine(redis());
      ends.push(() => line.stop());
      await clock.advance(600_000);
      const replicas = await startTwo(database, line.url);
      const sent = await create(replicas, 4);
      line.cut();

      expect(sent + (await create(replicas, 24))).toBe(PER_MINUTE);
      await pass(SECONDS_A_MINUTE);
      expect(await create(replicas, 24)).toBe(PER_MINUTE);

      line.mend();
      // one replica alone may send all of it only if both share
      await until(async () => {
        await pass(SECONDS_A_MINUTE);
        const sentByOne = await create(replicas.slice(0, 1), PER_MINUTE + 2);
        expect(sentByOne).toBeLessThanOrEqual(PER_MINUTE);
        return sentByOne === PER_MINUTE;
      });
    });
  });
});
