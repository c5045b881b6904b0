import { expect, test } from '@jest/globals';
import type { PassResult } from '@reelgate/platform/lifecycle/worker';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { describeOnEngines } from '../../../testing/store/describe-on-engines.ts';
import { seeded } from '../../../../../test/harness/seeded.ts';
import { completed } from '../../../testing/store/opened-store.ts';
import { openDeliveryWorld } from '../../../testing/webhooks/open-delivery-world.ts';
import type { DeliveryWorld } from '../../../testing/webhooks/open-delivery-world.ts';
import { watchEvents } from './watch-events.ts';
import type { EventWatch, EventMessage } from './watch-events.ts';

const HEARTBEAT_MS = 10_000;
const numbered = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `evt_${String(index).padStart(4, '0')}`);

function watch(
  { deps }: DeliveryWorld,
  wanted: Partial<EventWatch> = {},
  signal = new AbortController().signal,
): AsyncGenerator<EventMessage> {
  return watchEvents(deps, { accountId: 'acme', cursor: '', withSubject: false, ...wanted }, signal);
}
const shown = ({ event, cursor }: EventMessage): string => event?.id ?? `heartbeat ${cursor}`;

async function take(stream: AsyncGenerator<EventMessage>, count: number): Promise<string[]> {
  const got: string[] = [];
  while (got.length < count) got.push(shown(((await stream.next()) as IteratorYieldResult<EventMessage>).value));
  return got;
}

/** Dispatches, and has the hub notify the streams. */
async function publish(world: DeliveryWorld, ...ids: readonly string[]): Promise<void> {
  await world.happen(...ids.map((id) => ({ id })));
  await world.dispatch();
  let told: PassResult;
  do told = await world.deps.hub.pass();
  while (typeof told === 'number' && told > 0);
}

/** Lets a heartbeat become due. */
async function rest(world: DeliveryWorld): Promise<void> {
  await world.clock.advance(HEARTBEAT_MS);
  world.deps.watches.pass();
}

describeOnEngines('a stream of events', (open) => {
  test('that begins now first names the last event, then gives the next ones', async () => {
    const world = await openDeliveryWorld(open());
    await publish(world, 'evt_old');
    const stream = watch(world);

    expect(await take(stream, 1)).toEqual(['heartbeat evt_old']);
    await publish(world, 'evt_1', 'evt_2');
    expect(await take(stream, 2)).toEqual(['evt_1', 'evt_2']);
    const next = take(stream, 1);
    await publish(world, 'evt_3');
    expect(await next).toEqual(['evt_3']);
  });

  test('of an account without events begins at their beginning', async () => {
    const world = await openDeliveryWorld(open());

    expect(await take(watch(world), 1)).toEqual(['heartbeat evt_0']);
    await publish(world, 'evt_1');
    expect(await take(watch(world, { cursor: 'evt_0' }), 1)).toEqual(['evt_1']);
  });

  test('gives no event twice and leaves none out over more than a page', async () => {
    const world = await openDeliveryWorld(open());
    const ids = numbered(250);
    await publish(world, ...ids);

    expect(await take(watch(world, { cursor: 'evt_0' }), 250)).toEqual(ids);
    expect(await take(watch(world, { cursor: ids[119]! }), 130)).toEqual(ids.slice(120));
  });

  test('has heartbeats that name the last event that was passed, whether or not it matched', async () => {
    const world = await openDeliveryWorld(open());
    const stream = watch(world, { cursor: 'evt_0', types: ['video.failed'], subjectId: 'task_1' });
    await world.happen({ id: 'evt_1', type: 'video.failed' });
    await publish(world, 'evt_2');
    expect(await take(stream, 1)).toEqual(['evt_1']);

    const quiet = take(stream, 1);
    await rest(world);
    expect(await quiet).toEqual(['heartbeat evt_2']);

    await world.happen({ id: 'evt_3', type: 'video.failed', subjectId: 'task_2' });
    await publish(world);
    const again = take(stream, 1);
    await rest(world);
    expect(await again).toEqual(['heartbeat evt_3']);
  });

  test.each([
    ['an unknown event', 'evt_unknown'],
    ['an event of another account', 'evt_rival'],
    ['an event that is not dispatched', 'evt_new'],
  ])('from %s on is refused', async (_what, cursor) => {
    const world = await openDeliveryWorld(open());
    await world.happen({ id: 'evt_rival', accountId: 'rival' });
    await world.dispatch();
    await world.happen({ id: 'evt_new' });

    await expect(watch(world, { cursor }).next()).rejects.toMatchObject({ kind: 'gone', reason: 'event_expired' });
    expect(world.deps.watches.count('WatchEvents')).toBe(0);
  });

  test('has the events of its account only', async () => {
    const world = await openDeliveryWorld(open());
    await world.happen({ id: 'evt_1', accountId: 'rival' }, { id: 'evt_2' });
    await world.dispatch();

    expect(await take(watch(world, { cursor: 'evt_0' }), 1)).toEqual(['evt_2']);
    expect(await take(watch(world, { cursor: 'evt_0', accountId: 'rival' }), 1)).toEqual(['evt_1']);
  });

  test('has the task as it is now, if it is asked for', async () => {
    const world = await openDeliveryWorld(open());
    await completed(world.tasks, 'task_1');
    await publish(world);

    const { value } = (await watch(world, {
      cursor: 'evt_0',
      withSubject: true,
    }).next()) as IteratorYieldResult<EventMessage>;

    expect(value).toMatchObject({
      event: { subjectId: 'task_1', subject: { case: 'task', value: { state: TaskState.COMPLETED } } },
    });
  });

  test('is refused beyond sixteen of an account, until one has ended', async () => {
    const world = await openDeliveryWorld(open());
    const streams = Array.from({ length: 16 }, () => watch(world));
    for (const stream of streams) await take(stream, 1);

    const tooMany = { kind: 'exhausted', reason: 'too_many_streams' };
    await expect(watch(world).next()).rejects.toMatchObject(tooMany);
    expect(await take(watch(world, { accountId: 'rival' }), 1)).toHaveLength(1);
    await streams[3]!.return(undefined);
    expect(await take(watch(world), 1)).toHaveLength(1);
  });

  test('ends when its caller leaves', async () => {
    const world = await openDeliveryWorld(open());
    const leaving = new AbortController();
    const stream = watch(world, {}, leaving.signal);
    await take(stream, 1);
    const next = stream.next();
    leaving.abort(new Error('the caller left'));

    await expect(next).rejects.toThrow('the caller left');
    expect(world.deps.watches.count('WatchEvents')).toBe(0);
  });

  test('that goes on in another process misses nothing', async () => {
    const before = await openDeliveryWorld(open());
    await publish(before, 'evt_1', 'evt_2');
    expect(await take(watch(before, { cursor: 'evt_0' }), 1)).toEqual(['evt_1']);
    // The process ends between the end of a task and its dispatch.
    await before.happen({ id: 'evt_3' });

    const after = await openDeliveryWorld(open(), before.clock);
    const stream = watch(after, { cursor: 'evt_1' });
    expect(await take(stream, 1)).toEqual(['evt_2']);
    const next = take(stream, 1);
    await publish(after);
    expect(await next).toEqual(['evt_3']);
  });

  test('has every event once and in one order while several processes dispatch and write', async () => {
    const chance = seeded(7);
    const first = await openDeliveryWorld(open());
    const worlds = [first, ...(await Promise.all([1, 2].map(() => openDeliveryWorld(open(), first.clock))))];
    const ids = numbered(300);
    const got: string[] = [];
    const isWhole = (): boolean => got.length >= ids.length;
    const write = async (): Promise<void> => {
      const left = [...ids];
      while (left.length > 0)
        await Promise.all(left.splice(0, chance.whole(1, 9)).map((id) => chance.pick(worlds).happen({ id })));
    };
    const work = async ({ deps, dispatch }: DeliveryWorld): Promise<void> => {
      while (!isWhole()) {
        await dispatch();
        await deps.hub.pass();
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const read = async (): Promise<void> => {
      let stream = watch(worlds[0]!, { cursor: 'evt_0' });
      while (!isWhole()) {
        got.push(...(await take(stream, 1)));
        if (chance.chance() > 0.05) continue;
        // The connection breaks, and its caller goes on with another process.
        void stream.return(undefined);
        stream = watch(chance.pick(worlds), { cursor: got.at(-1)! });
      }
    };

    await Promise.all([write(), read(), ...worlds.map(work)]);

    expect(got.toSorted()).toEqual(ids);
    expect(await take(watch(worlds[1]!, { cursor: 'evt_0' }), ids.length)).toEqual(got);
  }, 120_000);
});
