import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { create as createMessage } from '@bufbuild/protobuf';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { newLocalBus } from '@reelgate/platform/bus/local-bus';
import type { Bus } from '@reelgate/platform/bus/bus';
import { systemClock } from '@reelgate/platform/clock';
import { silentLog } from '@reelgate/platform/log';
import { createDatabase } from '@reelgate/platform/testing/create-database';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import { until } from '@reelgate/platform/testing/until';
import { ChannelCallsSchema } from '@reelgate/proto/tasks/v1/channel_calls';
import type { ChannelCalls } from '@reelgate/proto/tasks/v1/channel_calls';
import { describeWith } from '../../../test/servers/describe-with.ts';
import { postgresServer } from '../../../test/servers/postgres-server.ts';
import { channelEntry, openReplica } from '../testing/open-replica.ts';
import type { Replica } from '../testing/open-replica.ts';
import { anOrder } from '../testing/orders.ts';
import { openScriptedUpstream } from './channels/adapter-contract/scripted-upstream.ts';
import type { ScriptedUpstream } from './channels/adapter-contract/scripted-upstream.ts';
import { toWireOrder } from './operations/reads/work-messages.ts';

const PER_MINUTE = 1000;
const WAIT_MS = 40_000;
const WAIT = { status: 429, json: {}, headers: { 'retry-after': String(WAIT_MS / 1000) } };
const FULL = /at its limit/;
const PAUSE = { id: 'main', actor: 'ann', reason: 'it loses results' };
const NONE = /no generator is available/;
const ACCEPTED = Array.from({ length: 50 }, (_, id) => ({ status: 200, json: { task_id: `4240109857${id}` } }));

let dataDir = '';
let upstream: ScriptedUpstream;
let clock: FakeClock;
const ends: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'reelgate-replicas-'));
  clock = fakeClock();
  upstream = await openScriptedUpstream();
  upstream.script(...ACCEPTED);
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

describeWith(postgresServer, 'a pause at one of two replicas', (postgres) => {
  let databases = 0;
  const newDatabase = (): Promise<string> => createDatabase(postgres(), `pauses_${(databases += 1)}`);
  const isTakenUp = (replica: Replica, value: 0 | 1) => async (): Promise<boolean> =>
    (await replica.metrics.text()).includes(`reelgate_channel_paused{channel="main"} ${value}`);

  test('is taken up by the other as soon as it hears of it', async () => {
    const database = await newDatabase();
    const bus = newLocalBus(systemClock, silentLog);
    ends.push(() => bus.close());
    const [one, other] = [await start(database, bus), await start(database, bus)];

    await one.operator.pauseChannel(PAUSE);
    expect(await create(one)).toMatch(NONE);
    await until(isTakenUp(other, 1));
    expect(await create(other)).toMatch(NONE);

    await other.operator.resumeChannel({ id: 'main', actor: 'bob' });
    await until(isTakenUp(one, 0));
    expect(await create(one)).toMatch(/^task_/);
    expect(upstream.requests).toHaveLength(1);
  });

  test('is taken up by the other within five seconds if no announcement comes', async () => {
    const database = await newDatabase();
    const [one, other] = [await start(database), await start(database)];

    await one.operator.pauseChannel(PAUSE);
    await until(async () => {
      await clock.advance(1000);
      return isTakenUp(other, 1)();
    });

    expect(await create(other)).toMatch(NONE);
    expect(upstream.requests).toEqual([]);
  });

  test('holds after a restart, before the first create', async () => {
    const database = await newDatabase();
    const first = await start(database);
    await first.operator.pauseChannel(PAUSE);
    await first.stop();

    const next = await start(database);

    expect(await create(next)).toMatch(NONE);
    expect(upstream.requests).toEqual([]);
  });

  test('of two at one moment is one act', async () => {
    const database = await newDatabase();
    const replicas = [await start(database), await start(database)];

    const pauses = await Promise.all(
      replicas.map(({ operator }, index) => operator.pauseChannel({ ...PAUSE, actor: `operator ${index}` })),
    );

    const { acts } = await replicas[0]!.operator.listActs({});
    expect(acts).toMatchObject([{ action: 'channel_paused', subject: 'main', reason: 'it loses results' }]);
    expect(pauses.map(({ pause }) => pause?.actor)).toEqual([acts[0]?.actor, acts[0]?.actor]);
  });

  test('leaves the activity whole: it sums what both did', async () => {
    const database = await newDatabase();
    const [one, other] = [await start(database), await start(database)];
    await create(one);
    await create(other);
    await one.operator.pauseChannel(PAUSE);
    await create(one);

    await other.stop();
    await one.stop();
    const next = await start(database);

    const { minutes, channels, unfinished } = await next.operator.getActivity({});
    expect(minutes).toMatchObject([
      { created: 2, refused: 1, refusedByClient: 0, refusedByUpstream: 1, refusedByUs: 0 },
    ]);
    expect(channels).toMatchObject([{ channel: 'main', minutes: [{ accepted: 2, refused: 0 }], lastError: '' }]);
    expect(unfinished).toBe(2);
  });
});

async function readWaits({ operator }: Replica): Promise<number> {
  return (await operator.listChannelPauses({})).waits.length;
}

describeWith(postgresServer, 'a wait that an upstream asks of one of two replicas', (postgres) => {
  beforeEach(() => {
    upstream.script(WAIT, ...ACCEPTED);
  });
  let databases = 0;
  const newDatabase = (): Promise<string> => createDatabase(postgres(), `waits_${(databases += 1)}`);

  test('is obeyed by the other as soon as it hears of it, and is over at its end', async () => {
    const database = await newDatabase();
    const bus = newLocalBus(systemClock, silentLog);
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

describeWith(postgresServer, 'the calls that gateways give their channels', (postgres) => {
  const SECOND = Math.floor(fakeClock().now() / 1000) * 1000;
  const given = (process: string, at: number, count: number): ChannelCalls =>
    createMessage(ChannelCallsSchema, { channel: 'text', process, second: timestampFromMs(at), count });

  test('are summed by second for a gateway that starts, each once, for a minute', async () => {
    const bus = newLocalBus(systemClock, silentLog);
    ends.push(() => bus.close());
    const database = await createDatabase(postgres(), 'calls');
    const [one, other] = [await start(database, bus), await start(database, bus)];
    const read = async () =>
      (await other.operator.listChannelPauses({ withCalls: true })).calls.map(({ second, count }) => [
        second === undefined ? 0 : timestampMs(second) - SECOND,
        count,
      ]);

    for (const calls of [
      given('a', SECOND, 3),
      given('b', SECOND, 4),
      given('a', SECOND, 2),
      given('a', SECOND + 1000, 1),
    ])
      bus.announce(ChannelCallsSchema, calls);

    await until(async () => (await read()).reduce((sum, [, count = 0]) => sum + count, 0) === 8);
    expect(await read()).toEqual([
      [0, 7],
      [1000, 1],
    ]);
    expect((await one.operator.listChannelPauses({})).calls).toEqual([]);
    await clock.advance(60_500);
    expect(await read()).toEqual([[1000, 1]]);
  });
});
