import { beforeEach, describe, expect, test } from '@jest/globals';
import { StoreUnavailable } from '@reelgate/platform/sql/sql';
import { openWatchWorld } from '../../../testing/watches/watch-world.ts';
import type { Reader, WatchWorld } from '../../../testing/watches/watch-world.ts';
import { watchTask } from './watch-tasks.ts';

const SWEEP_MS = 3500;
const HEARTBEAT_MS = 10_000;

let world: WatchWorld;
beforeEach(() => {
  world = openWatchWorld();
});

const watch = (cursor?: string): Promise<Reader> => world.read((signal) => world.watchTask(cursor, signal));
const seen = ({ got }: Reader): unknown[] => got.map(({ task }) => task?.progress ?? 'heartbeat');
const cursorOf = ({ got }: Reader): string => got.at(-1)!.cursor;

describe('a watch of a task', () => {
  test('gives the task now, then each change, and ends after its final state', async () => {
    world.write({ progress: 0 });
    const reader = await watch();
    for (const progress of [10, 40]) {
      world.change({ state: 'in_progress', progress });
      await world.settle();
    }
    world.change({ state: 'completed', progress: 100 });
    await world.settle();

    expect(seen(reader)).toEqual([0, 10, 40, 100]);
    expect(reader.outcome()).toBe('ended');
    expect(world.watches.count('WatchTask')).toBe(0);
  });

  test('of a task that has ended gives its final state and ends', async () => {
    world.write({ state: 'failed', progress: 30 });

    const reader = await watch();

    expect([seen(reader), reader.outcome()]).toEqual([[30], 'ended']);
  });

  test.each([
    ['an unknown task', () => undefined],
    ['the task of another account', () => world.write({ accountId: 'rival' })],
  ])('of %s is refused in the same words', async (_what, given) => {
    given();

    const reader = await watch();

    expect(reader.got).toEqual([]);
    expect(reader.outcome()).toMatchObject({ kind: 'not_found', reason: 'task_not_found', message: 'no such task' });
    expect(world.watches.count('WatchTask')).toBe(0);
  });

  test('ends as not found when the task is removed, after the last version that was not taken', async () => {
    world.write({ progress: 0 });
    const [reader, slow] = [await watch(), world.watchTask()];
    const opening = slow.next();
    await world.settle();
    await opening;
    world.change({ progress: 20 });
    await world.settle();

    world.remove('task_1');
    world.announce('task_1');
    await world.settle();

    expect(reader.outcome()).toMatchObject({ reason: 'task_not_found' });
    expect((await slow.next()).value?.task?.progress).toBe(20);
    await expect(slow.next()).rejects.toMatchObject({ reason: 'task_not_found' });
  });

  test('finds a change and a removal within seconds if their announcements are lost', async () => {
    world.write({ progress: 0 });
    const reader = await watch();

    world.write({ progress: 10 });
    await world.pass(SWEEP_MS);
    expect(seen(reader)).toEqual([0, 10]);

    world.remove('task_1');
    await world.pass(SWEEP_MS);
    expect(reader.outcome()).toMatchObject({ reason: 'task_not_found' });
  });

  test('does not depend on the clocks of those who write', async () => {
    world.write({ progress: 0 });
    const reader = await watch();

    world.write({ progress: 10, updatedAt: 5 });
    await world.pass(SWEEP_MS);

    expect(seen(reader)).toEqual([0, 10]);
  });

  test('gives a reader that does not read only the newest version', async () => {
    world.write({ progress: 0 });
    const slow = world.watchTask();
    const opening = slow.next();
    await world.settle();
    await opening;

    for (const progress of [10, 20, 30]) {
      world.change({ progress });
      await world.settle();
    }

    expect((await slow.next()).value?.task?.progress).toBe(30);
  });

  test('shares one message with all watches of the task', async () => {
    world.write({});
    const [one, other] = [await watch(), await watch()];
    world.change({ progress: 10 });
    await world.settle();

    expect(one.got.at(-1)?.task).toBe(other.got.at(-1)?.task);
  });

  test('whose reader leaves takes part in nothing any more', async () => {
    world.write({});
    const reader = await watch();
    reader.leave();
    await world.settle();
    world.journal.clear();

    world.change({ progress: 10 });
    await world.pass(SWEEP_MS);

    expect(reader.outcome()).toMatchObject({ message: 'the caller left' });
    expect([world.watches.count('WatchTask'), world.journal.names()]).toEqual([0, []]);
  });
});

describe('a cursor', () => {
  test('of the version of now brings a heartbeat at once, then the changes', async () => {
    world.write({ progress: 10 });
    const before = await watch();
    before.leave();

    const reader = await watch(cursorOf(before));
    expect(seen(reader)).toEqual(['heartbeat']);

    world.change({ progress: 20 });
    await world.settle();
    expect(seen(reader)).toEqual(['heartbeat', 20]);
  });

  test('of an earlier version brings the version of now', async () => {
    world.write({ progress: 10 });
    const before = await watch();
    before.leave();
    world.write({ progress: 20 });
    world.write({ progress: 30 });

    expect(seen(await watch(cursorOf(before)))).toEqual([30]);
  });

  test('of the final state brings a heartbeat and the end', async () => {
    world.write({ state: 'completed', progress: 100 });
    const reader = await watch(cursorOf(await watch()));

    expect([seen(reader), reader.outcome()]).toEqual([['heartbeat'], 'ended']);
  });

  test('of a heartbeat is worth as much as that of its version', async () => {
    world.write({ progress: 10 });
    const first = await watch();
    const second = await watch(cursorOf(first));

    expect(cursorOf(second)).toBe(cursorOf(first));
  });

  test('is never answered with an older version, though a read that has begun shows one', async () => {
    world.write({ progress: 10 });
    await watch();
    const gate = Promise.withResolvers<undefined>();
    world.journal.put(async (_call, proceed) => {
      const rows = await proceed();
      await gate.promise;
      return rows;
    });
    world.announce('task_1');
    const reading = world.settle();
    // Another process has shown this version to the caller.
    const { updatedAt } = world.write({ progress: 20 });
    const elsewhere = Buffer.from(`1t${updatedAt.toString(36)}`).toString('base64url');
    const opened = world.read((signal) => world.watchTask(elsewhere, signal));
    gate.resolve(undefined);
    await reading;
    const reader = await opened;

    expect(seen(reader)).toEqual(['heartbeat']);
  });

  test.each(['x', 'MXQ', '1', 'a'.repeat(201), Buffer.from('1a5').toString('base64url')])(
    'that is none (%s) is refused by name',
    async (cursor) => {
      world.write({});

      const reader = await watch(cursor);

      expect(reader.outcome()).toMatchObject({ kind: 'invalid', field: 'cursor', reason: 'invalid_request' });
    },
  );
});

describe('a heartbeat', () => {
  test('comes after ten quiet seconds, again and again, and carries the cursor', async () => {
    world.write({ progress: 10 });
    const reader = await watch();

    await world.pass(HEARTBEAT_MS - 500);
    expect(seen(reader)).toEqual([10]);
    await world.pass(500);
    expect(seen(reader)).toEqual([10, 'heartbeat']);
    expect(reader.got[1]?.cursor).toBe(reader.got[0]?.cursor);
    await world.pass(HEARTBEAT_MS);
    expect(seen(reader)).toEqual([10, 'heartbeat', 'heartbeat']);
  });

  test('is put off by a change', async () => {
    world.write({ progress: 10 });
    const reader = await watch();
    await world.pass(HEARTBEAT_MS - 500);
    world.change({ progress: 20 });
    await world.settle();

    await world.pass(HEARTBEAT_MS - 500);
    expect(seen(reader)).toEqual([10, 20]);
  });
});

describe('the reads', () => {
  /** Opens three watches of each task. */
  const many = (count: number): Promise<readonly Reader[]> => {
    const ids = Array.from({ length: count }, (_, index) => world.write({ id: `task_${index}` }).id);
    return world.readAll(
      [...ids, ...ids, ...ids].map(
        (taskId) => (signal) => watchTask(world, { accountId: 'acme', taskId, cursor: '' }, signal),
      ),
    );
  };

  test('of watches that begin together are a few for all', async () => {
    const readers = await many(300);

    expect(readers.every(({ got }) => got.length === 1)).toBe(true);
    expect(world.journal.names().filter((name) => name === 'store.list').length).toBe(2);
  });

  test('of many changes are one for all', async () => {
    await many(100);
    world.journal.clear();
    for (let index = 0; index < 100; index += 1) world.change({ id: `task_${index}`, progress: 50 });
    await world.settle();

    expect(world.journal.names()).toEqual(['store.list']);
  });

  test('are one of the versions at intervals while nothing changes, however many streams there are', async () => {
    await many(100);
    world.journal.clear();

    await world.pass(6000);

    expect(world.journal.names()).toEqual(['store.versions', 'store.versions']);
  });

  test('that fail end the watch that begins, and leave the others waiting for the next', async () => {
    world.write({ progress: 10 });
    const steady = await watch();
    world.write({ progress: 20 });
    const away = new StoreUnavailable('the database is away', { maybeWritten: false });
    world.journal.fail('store.list', away);

    const opening = world.watchTask();
    const first = opening.next();
    await expect(world.settle()).rejects.toThrow('away');
    await expect(first).rejects.toBe(away);
    await world.settle();

    expect(seen(steady)).toEqual([10, 20]);
  });
});
