import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { StoreUnavailable } from '@reelgate/platform/sql/sql';
import type { Sql } from '@reelgate/platform/sql/sql';
import { openDraws } from './draws.ts';
import { openFaults } from './faults.ts';
import { newProcess, openScheduler } from './scheduler.ts';
import type { Scheduler, SimulatedProcess } from './scheduler.ts';
import { openServerMeetings } from './server-meetings.ts';
import { openSimulatedServer } from './simulated-server.ts';
import type { SimulatedServer } from './simulated-server.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../../../services/billing/migrations');
const ADD = 'INSERT INTO price_keys (price_key, last_version) VALUES ($1, 0)';
const COUNT_ON = 'UPDATE price_keys SET last_version = last_version + 1 WHERE price_key = $1 RETURNING last_version';

let folder: string;
let scheduler: Scheduler;
let server: SimulatedServer;
let [one, other]: SimulatedProcess[] = [];

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'reelgate-simulated-server-'));
  const draws = openDraws(1);
  scheduler = openScheduler({ draws, hasLateTimers: false });
  const faults = openFaults(draws);
  faults.end();
  server = openSimulatedServer({
    ...{ scheduler, draws, faults, folder: path.join(folder, 'server') },
    log: () => undefined,
  });
  await server.prepare({ name: 'billing', migrations: MIGRATIONS });
  [one, other] = [newProcess('one'), newProcess('other')];
});
afterEach(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

const connect = (process: SimulatedProcess): Sql => server.connect('billing', process, StoreUnavailable);

/** Runs events until the promise has ended. */
async function runUntil<T>(promise: Promise<T>): Promise<T> {
  let isOver = false;
  const end = promise.finally(() => {
    isOver = true;
  });
  end.catch(() => undefined);
  await scheduler.run(() => isOver);
  return end;
}

/** Counts on, holds the row for a time, and commits. */
const countSlowly = (process: SimulatedProcess, ms: number): Promise<void> =>
  connect(process).transaction(async (query) => {
    await query(COUNT_ON, ['key']);
    await new Promise<void>((resolve) => {
      scheduler.after(ms, process, resolve);
    });
  });

test('the answer to a statement that waited for another process comes in an event of its own process', async () => {
  await runUntil(connect(one!).write(ADD, ['key']));
  const slow = countSlowly(one!, 500);
  const begun = scheduler.now();
  const seen: { rows: unknown; by: string; isLate: boolean }[] = [];
  await runUntil(
    connect(other!).transaction(async (query) => {
      await new Promise<void>((resolve) => {
        scheduler.after(100, other!, resolve);
      });
      const rows = await query(COUNT_ON, ['key']);
      seen.push({ rows, by: scheduler.current().name, isLate: scheduler.now() - begun > 500 });
    }),
  );
  await slow;

  expect(seen).toEqual([{ rows: [{ last_version: 2 }], by: 'other', isLate: true }]);
});

test('the locks of a process that dies are free, and its changes are gone', async () => {
  await runUntil(connect(one!).write(ADD, ['key']));
  void countSlowly(one!, 60_000);
  scheduler.after(200, scheduler.world, () => {
    one!.isAlive = false;
    server.drop(one!);
  });
  await new Promise<void>((resolve) => {
    scheduler.after(100, other!, resolve);
    void scheduler.run(() => scheduler.now() >= scheduler.begin + 150);
  });

  expect(await runUntil(connect(other!).write(COUNT_ON, ['key']))).toEqual([{ last_version: 1 }]);
});

test('a deadlock is the contention that the product reads off PostgreSQL', async () => {
  for (const key of ['key', 'lock']) await runUntil(connect(one!).write(ADD, [key]));
  const countBoth = (process: SimulatedProcess, keys: readonly string[]): Promise<unknown> =>
    connect(process).transaction(async (query) => {
      for (const key of keys) {
        await query(COUNT_ON, [key]);
        await new Promise<void>((resolve) => {
          scheduler.after(200, process, resolve);
        });
      }
    });

  const ends = await runUntil(
    Promise.allSettled([countBoth(one!, ['key', 'lock']), countBoth(other!, ['lock', 'key'])]),
  );

  const refusals = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
  expect(refusals).toEqual([expect.any(StoreUnavailable)]);
  expect(refusals[0]).toMatchObject({ isContention: true, maybeWritten: false, cause: { code: '40P01' } });
});

test('a statement waits until another process sends the same one, and at most for its time', async () => {
  const meetings = openServerMeetings(scheduler);
  const told: string[] = [];
  for (const [text, ms] of [
    ['met', 1000],
    ['missed', 300],
  ] as const)
    void meetings.await(text, one!, ms).then(() => {
      told.push(`${text} at ${scheduler.now() - scheduler.begin}`);
    });
  scheduler.after(100, other!, () => {
    told.push(`${meetings.meet('met', one!)} ${meetings.meet('met', other!)} ${meetings.meet('met', other!)}`);
  });
  await scheduler.run(() => told.length === 3);

  expect(told).toEqual(['false true false', 'met at 100', 'missed at 300']);
});
