import { beforeEach, describe, expect, test } from '@jest/globals';
import { openWatchWorld } from '../../../testing/watches/watch-world.ts';
import type { Reader, WatchWorld } from '../../../testing/watches/watch-world.ts';
import { aContextIr, anOrder } from '../../../testing/orders.ts';
import type { ChangeFilter } from '../../store/task-store.ts';
import type { WatchMessage } from './open-watches.ts';

const SWEEP_MS = 3500;
const HEARTBEAT_MS = 10_000;
const MINUTE_MS = 60_000;

let world: WatchWorld;
beforeEach(() => {
  world = openWatchWorld();
});

const watch = (cursor?: string, filter?: Partial<ChangeFilter>): Promise<Reader> =>
  world.read((signal) => world.watchTasks(cursor, filter, signal));
const nameOf = ({ task }: WatchMessage): string => (task === undefined ? 'heartbeat' : `${task.id} ${task.progress}`);
const seen = ({ got }: Reader): string[] => got.map(nameOf);
const cursorOf = ({ got }: Reader): string => got.at(-1)!.cursor;

describe('a watch of an account', () => {
  test('gives every unfinished task, a heartbeat, then each change of each task, new ones too', async () => {
    world.write({ id: 'task_1' });
    world.write({ id: 'task_2', state: 'in_progress', progress: 10 });
    world.write({ id: 'task_old', state: 'completed', progress: 100 });
    world.write({ id: 'task_rival', accountId: 'rival' });
    const reader = await watch();
    expect(seen(reader)).toEqual(['task_1 0', 'task_2 10', 'heartbeat']);

    world.change({ id: 'task_new' });
    world.change({ id: 'task_rival', accountId: 'rival', progress: 50 });
    await world.settle();
    world.change({ id: 'task_1', state: 'completed', progress: 100 });
    await world.settle();

    expect(seen(reader).slice(3)).toEqual(['task_new 0', 'task_1 100']);
    expect(reader.outcome()).toBe('open');
  });

  test('of an account without tasks gives a heartbeat at once', async () => {
    expect(seen(await watch())).toEqual(['heartbeat']);
  });

  test('finds changes and new tasks within seconds if their announcements are lost, each once', async () => {
    world.write({ id: 'task_1' });
    const reader = await watch();

    world.write({ id: 'task_1', progress: 10 });
    world.write({ id: 'task_2' });
    await world.pass(3 * SWEEP_MS);

    expect(seen(reader).slice(2).toSorted()).toEqual(['task_1 10', 'task_2 0']);
  });

  test('finds a change whose time is older than what it has seen, as a slow transaction leaves it', async () => {
    world.write({ id: 'task_1' });
    const reader = await watch();
    const { updatedAt } = world.change({ id: 'task_1', progress: 10 });
    await world.pass(SWEEP_MS);

    world.write({ id: 'task_2', updatedAt: updatedAt - 30_000 });
    await world.pass(SWEEP_MS);

    expect(seen(reader).at(-1)).toBe('task_2 0');
  });

  test('finds changes after the clock was set back by hours', async () => {
    world.write({ id: 'task_1' });
    const reader = await watch();
    await world.clock.advance(-5 * 3600_000);
    world.write({ id: 'task_2' });
    await world.pass(SWEEP_MS);

    expect(seen(reader).at(-1)).toBe('task_2 0');
  });

  test('says nothing of what ended shortly before it began', async () => {
    world.write({ id: 'task_1', state: 'completed', progress: 100 });
    const reader = await watch();

    await world.pass(2 * SWEEP_MS);

    expect(seen(reader)).toEqual(['heartbeat']);
  });

  test('says nothing of a removed task', async () => {
    world.write({ id: 'task_1' });
    const reader = await watch();
    world.remove('task_1');
    world.announce('task_1');
    await world.pass(SWEEP_MS);

    expect(seen(reader)).toEqual(['task_1 0', 'heartbeat']);
    expect(reader.outcome()).toBe('open');
  });

  test.each<[string, Partial<ChangeFilter>, string[]]>([
    ['states', { states: ['in_progress', 'completed'] }, ['task_2 10', 'heartbeat', 'task_1 20', 'task_2 100']],
    ['final states', { states: ['completed'] }, ['heartbeat', 'task_2 100']],
    ['a model', { model: 'Other-V1' }, ['task_2 10', 'heartbeat', 'task_2 100']],
    ['a kind', { kind: 'context_ir' }, ['task_1 0', 'heartbeat', 'task_1 20']],
  ])('is filtered by %s', async (_what, filter, expected) => {
    world.write({ id: 'task_1', order: aContextIr() });
    world.write({ id: 'task_2', state: 'in_progress', progress: 10, order: anOrder({ model: 'Other-V1' }) });
    const reader = await watch('', filter);
    for (const changes of [
      { id: 'task_1', state: 'in_progress', progress: 20 },
      { id: 'task_2', state: 'completed', progress: 100 },
    ] as const) {
      world.change(changes);
      await world.settle();
    }

    expect(seen(reader)).toEqual(expected);
  });

  test('shows after ten quiet seconds that it lives, with a cursor that has moved', async () => {
    const reader = await watch();
    await world.pass(HEARTBEAT_MS - 500);
    expect(seen(reader)).toEqual(['heartbeat']);
    await world.pass(500);

    expect(seen(reader)).toEqual(['heartbeat', 'heartbeat']);
    expect(reader.got[1]!.cursor).not.toBe(reader.got[0]!.cursor);
  });

  test('whose reader leaves takes part in nothing any more', async () => {
    const reader = await watch();
    reader.leave();
    await world.settle();
    world.journal.clear();
    world.change({ id: 'task_1' });
    await world.pass(SWEEP_MS);

    expect([world.watches.count('WatchTasks'), world.journal.names()]).toEqual([0, []]);
  });
});

describe('a cursor', () => {
  test('brings what has changed since, finished tasks too, then a heartbeat', async () => {
    world.write({ id: 'task_1' });
    world.write({ id: 'task_2' });
    const before = await watch();
    await world.pass(5 * MINUTE_MS);
    before.leave();
    await world.clock.advance(5 * MINUTE_MS);
    world.write({ id: 'task_2', state: 'completed', progress: 100 });
    world.write({ id: 'task_3' });

    expect(seen(await watch(cursorOf(before)))).toEqual(['task_2 100', 'task_3 0', 'heartbeat']);
  });

  test('of a heartbeat saves what came before it', async () => {
    world.write({ id: 'task_1' });
    const before = await watch();
    await world.pass(5 * MINUTE_MS);
    before.leave();
    await world.settle();

    expect(seen(await watch(cursorOf(before)))).toEqual(['heartbeat']);
  });

  test('within the beginning goes on with the beginning', async () => {
    for (let index = 0; index < 250; index += 1) world.write({ id: `task_${String(index).padStart(3, '0')}` });
    await world.clock.advance(5 * MINUTE_MS);
    const cut = world.watchTasks();
    const first: WatchMessage[] = [];
    for (let index = 0; index < 130; index += 1) first.push((await cut.next()).value as WatchMessage);
    await cut.return(undefined);
    await world.clock.advance(5 * MINUTE_MS);
    world.write({ id: 'task_200', state: 'completed', progress: 100 });

    const rest = await watch(first.at(-1)!.cursor);

    const ids = new Set([...first, ...rest.got].map(({ task }) => task?.id));
    expect(ids.size).toBe(251);
    expect(seen(rest)).toContain('task_200 100');
    expect(rest.got.length).toBeLessThan(250 - 130 + 10);
  });

  test('of a watch that is interrupted again and again does not go backwards', async () => {
    world.write({ id: 'task_1' });
    const before = await watch();
    await world.pass(MINUTE_MS);
    world.change({ id: 'task_1', progress: 10 });
    await world.settle();
    before.leave();
    let cursor = cursorOf(before);
    for (let cut = 0; cut < 5; cut += 1) {
      const stream = world.watchTasks(cursor);
      const { value } = await stream.next();
      await stream.return(undefined);
      expect(sinceOf((value as WatchMessage).cursor)).toBeGreaterThanOrEqual(sinceOf(cursor));
      ({ cursor } = value as WatchMessage);
    }
  });

  test.each(['x', Buffer.from('1t5').toString('base64url'), Buffer.from('1a5,,x').toString('base64url')])(
    'that is none (%s) is refused by name',
    async (cursor) => {
      const reader = await watch(cursor);

      expect(reader.outcome()).toMatchObject({ kind: 'invalid', field: 'cursor', reason: 'invalid_request' });
    },
  );
});

describe('a reader that is slow', () => {
  const untaken = async (changes: number): Promise<AsyncGenerator<WatchMessage>> => {
    const slow = world.watchTasks();
    const { value } = await slow.next();
    expect(nameOf(value as WatchMessage)).toBe('heartbeat');
    for (let index = 0; index < changes; index += 1) world.change({ id: `task_${index}`, progress: 1 });
    await world.settle();
    for (let index = 0; index < changes; index += 1) world.change({ id: `task_${index}`, progress: 2 });
    await world.settle();
    return slow;
  };
  const take = async (slow: AsyncGenerator<WatchMessage>, count: number): Promise<WatchMessage[]> => {
    const got: WatchMessage[] = [];
    while (got.length < count) got.push((await slow.next()).value as WatchMessage);
    return got;
  };

  test('gets the newest version of each task alone', async () => {
    const got = await take(await untaken(20), 20);

    expect(new Set(got.map(nameOf)).size).toBe(20);
    expect(got.every(({ task }) => task?.progress === 2)).toBe(true);
  });

  test('holds a limited number of tasks, and reads the others when it goes on', async () => {
    const slow = await untaken(1500);
    const got = await take(slow, 1500);

    expect(world.fellBehind()).toBe(1);
    expect(new Set(got.map(nameOf)).size).toBe(1500);
    expect(got.every(({ task }) => task?.progress === 2)).toBe(true);
    await slow.return(undefined);
  });

  test('has cursors that leave out nothing of what still waits for it', async () => {
    const slow = await untaken(20);
    const [last] = (await take(slow, 10)).slice(-1);
    await slow.return(undefined);
    await world.clock.advance(5 * MINUTE_MS);

    const rest = await watch(last!.cursor);

    expect(new Set(seen(rest)).size).toBe(21);
  });
});

test('a watch that falls behind while it begins gives each task in its newest version', async () => {
  for (let index = 0; index < 300; index += 1) world.write({ id: `task_${index}` });
  const slow = world.watchTasks();
  await slow.next();
  for (let index = 0; index < 1500; index += 1) world.change({ id: `task_${index}`, progress: 1 });
  await world.settle();

  const newest = new Map<string, number>();
  while ([...newest.values()].filter((progress) => progress === 1).length < 1500) {
    const { task } = (await slow.next()).value as WatchMessage;
    if (task !== undefined) newest.set(task.id, task.progress);
  }
  await slow.return(undefined);

  expect(world.fellBehind()).toBe(1);
});

function sinceOf(cursor: string): number {
  return Number.parseInt(/^1a(\w+)/.exec(Buffer.from(cursor, 'base64url').toString())![1]!, 36);
}
