import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import type { PassResult } from '@reelgate/platform/lifecycle/worker';
import type { Task } from '../../src/domain/task.ts';
import { newOpenWatches } from '../../src/operations/watches/open-watches.ts';
import type { WatchMessage, OpenWatches } from '../../src/operations/watches/open-watches.ts';
import { newWatchHub } from '../../src/operations/watches/watch-hub.ts';
import type { WatchHub } from '../../src/operations/watches/watch-hub.ts';
import { watchTask, watchTasks } from '../../src/operations/watches/watch-tasks.ts';
import type { ChangeFilter } from '../../src/store/task-store.ts';
import { newJournal, recorded } from '../journal.ts';
import type { Journal } from '../journal.ts';
import { aTask } from '../tasks.ts';
import { changesInMemory } from './changes-in-memory.ts';

/** A stream that is read as fast as it comes. */
export interface Reader {
  readonly got: WatchMessage[];
  /** `open`, `ended`, or what it threw. */
  outcome(): unknown;
  /** The caller leaves. */
  leave(): void;
}

/** One process with its watches. The test writes the tasks and runs the passes. */
export interface WatchWorld {
  readonly clock: FakeClock;
  readonly journal: Journal;
  readonly hub: WatchHub;
  readonly watches: OpenWatches;
  readonly fellBehind: () => number;
  /** Writes a version of a task, without an announcement. */
  write(changes: Partial<Task>): Task;
  /** Writes a version of a task and announces it. */
  change(changes: Partial<Task>): Task;
  remove(taskId: string): void;
  announce(taskId: string): void;
  /** Runs passes until nothing is left to read. */
  settle(): Promise<void>;
  /** Lets time pass as the workers of the service would. */
  pass(ms: number): Promise<void>;
  watchTask(cursor?: string, signal?: AbortSignal): AsyncGenerator<WatchMessage>;
  watchTasks(cursor?: string, filter?: Partial<ChangeFilter>, signal?: AbortSignal): AsyncGenerator<WatchMessage>;
  /** Starts readers, then runs the passes. */
  readAll(opens: readonly OpenStream[]): Promise<readonly Reader[]>;
  read(open: OpenStream): Promise<Reader>;
}

export type OpenStream = (signal: AbortSignal) => AsyncGenerator<WatchMessage>;

const PASS_MS = 500;

export function openWatchWorld(): WatchWorld {
  const clock = fakeClock();
  const journal = newJournal();
  const rows = changesInMemory();
  const store = recorded('store', rows.store, journal);
  const watches = newOpenWatches(clock);
  let isWoken = false;
  let behind = 0;
  const hub = newWatchHub({ store, clock, wake: () => (isWoken = true) });
  const count = { fellBehind: () => (behind += 1) };
  const world: WatchWorld = {
    clock,
    journal,
    hub,
    watches,
    fellBehind: () => behind,
    write: (changes) => {
      const { id = 'task_1' } = changes;
      const before = rows.find(id);
      const updatedAt = Math.max(changes.updatedAt ?? clock.now(), (before?.updatedAt ?? 0) + 1);
      return rows.put(aTask({ ...before, ...changes, updatedAt }));
    },
    change: (changes) => {
      const task = world.write(changes);
      world.announce(task.id);
      return task;
    },
    remove: (taskId) => {
      rows.remove(taskId);
    },
    announce: (taskId) => {
      hub.hint({ taskId, accountId: rows.find(taskId)?.accountId ?? 'acme' });
    },
    settle: async () => {
      let left: PassResult;
      do {
        isWoken = false;
        left = await hub.pass();
        await clock.advance(0);
      } while ((typeof left === 'number' && left > 0) || isWoken);
    },
    pass: async (ms) => {
      for (let passed = 0; passed < ms; passed += PASS_MS) {
        await clock.advance(Math.min(PASS_MS, ms - passed));
        watches.pass();
        await world.settle();
      }
    },
    watchTask: (cursor = '', signal = new AbortController().signal) =>
      watchTask({ hub, watches }, { accountId: 'acme', taskId: 'task_1', cursor }, signal),
    watchTasks: (cursor = '', filter = {}, signal = new AbortController().signal) =>
      watchTasks({ hub, store, watches, count }, { accountId: 'acme', ...filter }, cursor, signal),
    readAll: async (opens) => {
      const readers = opens.map(pump);
      await world.clock.advance(0);
      await world.settle();
      return readers;
    },
    read: async (open) => (await world.readAll([open]))[0]!,
  };
  return world;
}

function pump(open: OpenStream): Reader {
  const leaving = new AbortController();
  const got: WatchMessage[] = [];
  let outcome: unknown = 'open';
  const run = async (): Promise<void> => {
    try {
      for await (const message of open(leaving.signal)) got.push(message);
      outcome = 'ended';
    } catch (error) {
      outcome = error;
    }
  };
  void run();
  return {
    got,
    outcome: () => outcome,
    leave: () => {
      leaving.abort(new Error('the caller left'));
    },
  };
}
