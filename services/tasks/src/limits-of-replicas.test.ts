import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createDatabase } from '@reelgate/platform/testing/create-database';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import { until } from '@reelgate/platform/testing/until';
import { openCuttableLine } from '../../../test/harness/cuttable-line.ts';
import { describeWith } from '../../../test/servers/describe-with.ts';
import { postgresServer } from '../../../test/servers/postgres-server.ts';
import { redisServer } from '../../../test/servers/redis-server.ts';
import { channelEntry, openReplica } from '../testing/open-replica.ts';
import type { Replica } from '../testing/open-replica.ts';
import { anOrder } from '../testing/orders.ts';
import { openScriptedUpstream } from './channels/adapter-contract/scripted-upstream.ts';
import type { ScriptedUpstream } from './channels/adapter-contract/scripted-upstream.ts';
import { toWireOrder } from './operations/reads/work-messages.ts';

const PER_MINUTE = 10;
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

async function start(database: string, redis?: string): Promise<Replica> {
  const channels = [channelEntry('main', upstream.url, PER_MINUTE)];
  const replica = await openReplica({ database, redis, dataDir, clock, channels });
  ends.push(() => replica.stop());
  return replica;
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

  test('without Redis one that starts anew goes on with the minute of the one before', async () => {
    const database = await newDatabase();
    const before = await start(database);
    expect(await create([before], 4)).toBe(4);
    await pass(SECONDS_A_MINUTE / 2);
    expect(await create([before], 20)).toBe(PER_MINUTE - 4);
    await before.service.stop();
    const after = await start(database);

    expect(await create([after], 4)).toBe(0);
    await pass(SECONDS_A_MINUTE / 2);
    expect(await create([after], 20)).toBe(4);
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
