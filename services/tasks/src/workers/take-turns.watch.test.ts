import { expect, test } from '@jest/globals';
import { silentLog } from '@reelgate/platform/log';
import { StoreUnavailable } from '@reelgate/platform/sql/sql';
import { until } from '@reelgate/platform/testing/until';
import { channelSettings } from '../../testing/channel-settings.ts';
import { useWorlds } from '../../testing/open-world.ts';
import type { World } from '../../testing/open-world.ts';
import { turnTaker } from './take-turns.ts';
import type { TurnTaker } from './take-turns.ts';

const open = useWorlds();
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const QUEUE = {
  perAccount: 100,
  total: 200,
  longestWaitMs: { interactive: HOUR_MS, standard: HOUR_MS, batch: HOUR_MS },
};
const LANE = '["generation","Alpha-H3",null,[],"standard"]';
const BY_OPERATOR = { at: 1, actor: 'ann', reason: 'repairs' };
const FULL = channelSettings({ inFlightMax: 1 });

interface WatchedWorld extends World {
  readonly turns: TurnTaker;
  /** What was logged as a warning. */
  readonly warned: readonly object[];
}

async function openWatched(channel = FULL): Promise<WatchedWorld> {
  const world = await open({ channels: [channel], queue: QUEUE });
  const warned: object[] = [];
  const log = { ...silentLog, warn: (fields: object) => void warned.push(fields) };
  const turns = turnTaker(
    { ...world.deps, log },
    () => 1,
    () => undefined,
  );
  return { ...world, warned, turns };
}

/** Creates tasks while the circuit of the channel is open, so that each of them waits. */
async function createWaiting(world: World, tasks: number): Promise<void> {
  for (let times = 0; times < 5; times += 1) world.deps.channels.find('main')?.circuit.failed();
  for (let count = 0; count < tasks; count += 1) await world.create();
}

test('turns are late from the time at which a pass was due that fails, until one succeeds', async () => {
  const world = await openWatched();
  await createWaiting(world, 1);
  await world.turns.pass();
  await world.clock.advance(5000);
  expect(world.turns.lateMs()).toBe(0);

  world.journal.fail('store.listLanes', new StoreUnavailable('away'));
  await expect(world.turns.pass()).rejects.toThrow('away');
  await world.clock.advance(20_000);
  expect(world.turns.lateMs()).toBe(20_000);
  await world.turns.pass();
  expect(world.turns.lateMs()).toBe(0);
});

test('turns are late if no pass comes when a channel may have room again', async () => {
  const world = await openWatched(channelSettings({ requestsPerMinute: 30 }));
  await createWaiting(world, 3);
  await world.clock.advance(MINUTE_MS);
  // A half-open circuit lets one through.
  await world.turns.pass();
  await world.turns.pass();
  expect(await world.turns.pass()).toEqual({ dueAt: world.clock.now() + 2000 });
  await world.clock.advance(18_000);

  expect(world.turns.lateMs()).toBe(16_000);
});

test('turns are not late while nothing waits, however long ago the last pass was', async () => {
  const world = await openWatched();
  await world.turns.pass();
  await world.clock.advance(MINUTE_MS);

  expect(world.turns.lateMs()).toBe(0);
});

test('a lane that no channel of the configuration serves is counted, and named in the log once', async () => {
  const world = await openWatched();
  await createWaiting(world, 2);
  world.deps.channels.replace([]);
  for (let passes = 0; passes < 2; passes += 1) await world.turns.pass();

  expect(world.turns.unserved()).toBe(1);
  expect(world.warned).toEqual([{ lane: LANE }]);
  world.deps.channels.replace([FULL]);
  await world.turns.pass();
  expect(world.turns.unserved()).toBe(0);
});

test('a model that an operator holds gets no turns until it is released', async () => {
  const world = await openWatched();
  await createWaiting(world, 1);
  await world.deps.store.holdQueue({ model: 'Alpha-H3' }, BY_OPERATOR);
  await world.clock.advance(60_000);
  await world.turns.pass();
  expect(world.upstream.submitted).toHaveLength(0);

  await world.deps.store.releaseQueue({ model: 'Alpha-H3' }, BY_OPERATOR);
  await world.turns.pass();
  await until(() => world.upstream.submitted.length === 1);
});

test('a weight that an operator gave for a time ends with it', async () => {
  const world = await openWatched();
  await createWaiting(world, 1);
  const readWeight = async () => (await world.deps.store.readShare(LANE, 'acme')).weight;
  await world.deps.store.setQueueWeight('acme', { weight: 4, until: world.clock.now() + 60_000 }, BY_OPERATOR);
  await world.turns.pass();
  expect(await readWeight()).toBe(4);

  await world.deps.store.holdQueue({ account: 'acme' }, BY_OPERATOR);
  await world.clock.advance(60_000);
  await world.turns.pass();
  expect(await readWeight()).toBe(1);
});
