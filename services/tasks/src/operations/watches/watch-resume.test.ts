import { expect, test } from '@jest/globals';
import { seeded } from '../../../../../test/harness/seeded.ts';
import type { Seeded } from '../../../../../test/harness/seeded.ts';
import { openWatchWorld } from '../../../testing/watches/watch-world.ts';
import type { WatchWorld } from '../../../testing/watches/watch-world.ts';
import type { Task } from '../../domain/task.ts';
import type { WatchMessage } from './open-watches.ts';
import { OVERLAP_MS } from './watch-hub.ts';

const SEEDS = 20;
const STEPS = 250;
const TASKS = 12;
const STEP_MS_MAX = 20_000;
/** How much later than its own time a change appears at most, but for one step: a skewed clock, a slow transaction. */
const LATE_MS_MAX = OVERLAP_MS - STEP_MS_MAX - 1000;

/** A caller that connects, reads at its own pace, loses its connection and goes on with its last cursor. */
class Caller {
  readonly versions = new Map<string, number>();
  readonly olderThanSeen: string[] = [];
  private cursor = '';
  private stream: AsyncGenerator<WatchMessage> | undefined;
  private pending: Promise<IteratorResult<WatchMessage>> | undefined;
  private readonly open: (cursor: string) => AsyncGenerator<WatchMessage>;

  constructor(open: (cursor: string) => AsyncGenerator<WatchMessage>) {
    this.open = open;
  }

  /** Takes what is there, `count` messages at most. */
  async take(world: WatchWorld, count: number): Promise<void> {
    for (let taken = 0; taken < count; taken += 1) {
      this.stream ??= this.open(this.cursor);
      this.pending ??= this.stream.next();
      const got = await Promise.race([this.pending, world.settle().then(() => undefined)]);
      if (got === undefined) return;
      this.pending = undefined;
      if (got.done === true) return;
      this.note(got.value);
    }
  }

  disconnect(): void {
    void this.stream?.return(undefined);
    this.stream = undefined;
    this.pending = undefined;
  }

  private note({ task, cursor }: WatchMessage): void {
    this.cursor = cursor;
    if (task === undefined) return;
    if (task.updatedAt < (this.versions.get(task.id) ?? 0)) this.olderThanSeen.push(task.id);
    this.versions.set(task.id, task.updatedAt);
  }
}

/** Changes of tasks that are announced or not, and that may appear long after their own time. */
function changes(world: WatchWorld, chance: Seeded) {
  const last = new Map<string, Task>();
  const waiting: { readonly appearsAt: number; readonly changes: Partial<Task> }[] = [];
  const next = (): Partial<Task> | undefined => {
    const id = `task_${chance.whole(1, TASKS)}`;
    const before = last.get(id);
    if (before?.state === 'completed' || waiting.some(({ changes }) => changes.id === id)) return undefined;
    const progress = (before?.progress ?? 0) + 1;
    return { id, progress, state: chance.chance() < 0.1 ? 'completed' : 'in_progress', updatedAt: world.clock.now() };
  };
  const write = (changed: Partial<Task>): void => {
    const task = chance.chance() < 0.5 ? world.change(changed) : world.write(changed);
    last.set(task.id, task);
  };
  return {
    last,
    step: () => {
      for (const one of waiting.splice(0))
        if (one.appearsAt <= world.clock.now()) write(one.changes);
        else waiting.push(one);
      const change = next();
      if (change === undefined) return;
      if (chance.chance() < 0.3)
        waiting.push({ appearsAt: world.clock.now() + chance.whole(0, LATE_MS_MAX), changes: change });
      else write(change);
    },
    finish: () => {
      for (const { changes: change } of waiting.splice(0)) write(change);
    },
  };
}

test.each(Array.from({ length: SEEDS }, (_, seed) => seed))(
  'watches that are cut and resumed at random miss no last state and never go backwards (seed %d)',
  async (seed) => {
    const chance = seeded(seed);
    const world = openWatchWorld();
    const written = changes(world, chance);
    const account = new Caller((cursor) => world.watchTasks(cursor));
    const one = new Caller((cursor) => world.watchTask(cursor));
    // What ended before the first connection is no news.
    await account.take(world, 1);
    world.change({ id: 'task_1' });
    for (let step = 0; step < STEPS; step += 1) {
      written.step();
      await world.pass(chance.pick([0, 0, 500, 2000, STEP_MS_MAX]));
      for (const caller of [account, one]) {
        if (chance.chance() < 0.15) caller.disconnect();
        else if (chance.chance() < 0.7) await caller.take(world, chance.whole(1, 5));
      }
    }
    written.finish();
    await world.pass(8000);
    for (const caller of [account, one]) {
      await caller.take(world, 1000);
      caller.disconnect();
    }

    expect([...account.olderThanSeen, ...one.olderThanSeen]).toEqual([]);
    const known = (versions: ReadonlyMap<string, number>): unknown => Object.fromEntries([...versions].toSorted());
    expect(known(account.versions)).toEqual(
      known(new Map([...written.last].map(([id, { updatedAt }]) => [id, updatedAt]))),
    );
    expect([...one.versions]).toEqual(
      written.last.has('task_1')
        ? [['task_1', written.last.get('task_1')?.updatedAt]]
        : [['task_1', expect.any(Number)]],
    );
  },
);
