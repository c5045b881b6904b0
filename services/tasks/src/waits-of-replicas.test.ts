import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openLocalBus } from '@reelgate/platform/bus/local-bus';
import type { Bus } from '@reelgate/platform/bus/bus';
import { systemClock } from '@reelgate/platform/clock';
import { silentLog } from '@reelgate/platform/log';
import { createDatabase } from '@reelgate/platform/testing/create-database';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import { until } from '@reelgate/platform/testing/until';
import { describeWith } from '../../../test/servers/describe-with.ts';
import { postgresServer } from '../../../test/servers/postgres-server.ts';
import { channelEntry, openReplica } from '../testing/open-replica.ts';
import type { Replica } from '../testing/open-replica.ts';
import { anOrder } from '../testing/orders.ts';
import { openScriptedUpstream } from './channels/adapter-contract/scripted-upstream.ts';
import type { ScriptedUpstream } from './channels/adapter-contract/scripted-upstream.ts';
import { toWireOrder } from './rpc/mapping-order.ts';

const PER_MINUTE = 1000;
const WAIT_MS = 40_000;
const FULL = /at its limit/;

let dataDir = '';
let upstream: ScriptedUpstream;
let clock: FakeClock;
const ends: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'reelgate-waits-'));
  clock = fakeClock();
  upstream = await openScriptedUpstream();
  upstream.script(
    { status: 429, json: {}, headers: { 'retry-after': String(WAIT_MS / 1000) } },
    ...Array.from({ length: 50 }, (_, id) => ({ status: 200, json: { task_id: `4240109857${id}` } })),
  );
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  await upstream.close();
  rmSync(dataDir, { recursive: true });
});

async function start(database: string, bus?: Bus): Promise<Replica> {
  const channels = [channelEntry('main', upstream.url, PER_MINUTE)];
  const replica = await openReplica({ database, dataDir, clock, channels, ...(bus === undefined ? {} : { bus }) });
  ends.push(() => replica.stop());
  return replica;
}

/** What became of a create: its task or its refusal. */
async function create({ client }: Replica): Promise<string> {
  const order = { accountId: 'acme', tokenId: 'token_1', order: toWireOrder(anOrder()) };
  return client.createTask(order).then(({ task }) => task?.id ?? '', String);
}

async function readWaits({ operator }: Replica): Promise<number> {
  return (await operator.listChannelPauses({})).waits.length;
}

describeWith(postgresServer, 'a wait that an upstream asks of one of two replicas', (postgres) => {
  let databases = 0;
  const newDatabase = (): Promise<string> => createDatabase(postgres(), `waits_${(databases += 1)}`);

  test('is obeyed by the other as soon as it hears of it, and is over at its end', async () => {
    const database = await newDatabase();
    const bus = openLocalBus(systemClock, silentLog);
    ends.push(() => bus.close());
    const [one, other] = [await start(database, bus), await start(database, bus)];

    expect(await create(one)).toMatch(FULL);
    expect(await create(other)).toMatch(FULL);
    expect(upstream.requests).toHaveLength(1);

    await clock.advance(WAIT_MS);
    expect([await create(one), await create(other)]).toEqual([
      expect.stringMatching(/^task_/),
      expect.stringMatching(/^task_/),
    ]);
  });

  test('is obeyed by the other within five seconds if no announcement comes', async () => {
    const database = await newDatabase();
    const [one, other] = [await start(database), await start(database)];

    expect(await create(one)).toMatch(FULL);
    await until(async () => (await readWaits(other)) === 1);
    await clock.advance(5000);

    await until(async () => FULL.test(await create(other)));
    expect(await create(other)).toMatch(FULL);
  });

  test('is obeyed after a restart, before the first create', async () => {
    const database = await newDatabase();
    const first = await start(database);
    expect(await create(first)).toMatch(FULL);
    await until(async () => (await readWaits(first)) === 1);
    await first.stop();

    const next = await start(database);

    expect(await create(next)).toMatch(FULL);
    expect(upstream.requests).toHaveLength(1);
    await clock.advance(WAIT_MS);
    expect(await create(next)).toMatch(/^task_/);
  });
});
