import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { SqlRow, SqlValue } from '@reelgate/platform/sql/sql';
import { openDraws } from './draws.ts';
import { openScheduler } from './scheduler.ts';
import { DEADLOCK_MS, openServerDatabase } from './server-database.ts';
import type { ServerDatabase, ServerTransaction } from './server-database.ts';

const SCHEMA = `
  CREATE TABLE things (id TEXT PRIMARY KEY, name TEXT UNIQUE, state TEXT NOT NULL, used INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE objects (id TEXT PRIMARY KEY, task_id TEXT NOT NULL, purpose TEXT NOT NULL);
  CREATE UNIQUE INDEX objects_results ON objects (task_id) WHERE purpose = 'result';
  CREATE TABLE unnamed (number INTEGER NOT NULL);
  INSERT INTO things VALUES ('a', 'anna', 'open', 0), ('b', 'berta', 'open', 0), ('c', 'carla', 'open', 0)`;

let folder: string;
let database: ServerDatabase;
let scheduler: ReturnType<typeof openScheduler>;

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'reelgate-server-'));
  scheduler = openScheduler({ draws: openDraws(1), hasLateTimers: false });
  database = openServerDatabase({
    file: path.join(folder, 'one.sqlite'),
    now: scheduler.now,
    after: (ms, run) => scheduler.after(ms, scheduler.world, run),
  });
  await database.define(async (query) => {
    for (const text of SCHEMA.split(';')) await query(text);
  });
});
afterEach(() => {
  database.close();
  rmSync(folder, { recursive: true });
});

const END = "UPDATE things SET state = 'ended' WHERE id = $1 AND state = 'open' RETURNING id";
const USE = 'UPDATE things SET used = used + 1 WHERE id = $1 RETURNING used';
const LOCK = 'UPDATE things SET used = used WHERE id = $1 RETURNING used';
const ADD = "INSERT INTO things VALUES ($1, $2, 'open', 0) RETURNING id";

/** Runs events until the time is over. */
async function runFor(ms: number): Promise<void> {
  const until = scheduler.now() + ms;
  scheduler.after(ms, scheduler.world, () => undefined);
  await scheduler.run(() => scheduler.now() >= until);
}

/** Sends a statement, and returns what it has answered so far: `waits`, its rows, or the code of its error. */
async function send(
  on: ServerTransaction,
  text: string,
  values: readonly SqlValue[] = [],
): Promise<() => readonly SqlRow[] | string> {
  let said: readonly SqlRow[] | string = 'waits';
  on.rows(text, values).then(
    (rows) => {
      said = rows;
    },
    (error: unknown) => {
      said = (error as { readonly code?: string }).code ?? String(error);
    },
  );
  await letAnswersCome();
  return () => said;
}

async function letAnswersCome(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

const state = (id: string): unknown => database.read('SELECT state, used FROM things WHERE id = $1', [id])[0];

describe('two transactions of the simulated server', () => {
  test.each<[string, 'commit' | 'rollback', readonly SqlRow[]]>([
    ['and finds the condition broken by its commit', 'commit', []],
    ['and finds the row as it was after its rollback', 'rollback', [{ id: 'a' }]],
  ])('the second writer of a row waits for the first %s', async (_what, end, answer) => {
    const [first, second] = [database.begin(), database.begin()];
    await send(first, END, ['a']);

    const waiting = await send(second, END, ['a']);
    expect(waiting()).toBe('waits');
    first[end]();
    await letAnswersCome();

    expect(waiting()).toEqual(answer);
  });

  test('two that add to a number both count, and a lock by a write that changes nothing makes the other wait', async () => {
    const [first, second, third] = [database.begin(), database.begin(), database.begin()];
    await send(first, LOCK, ['a']);
    const adds = [await send(second, USE, ['a']), await send(third, USE, ['a'])];
    expect(adds.map((add) => add())).toEqual(['waits', 'waits']);

    first.commit();
    await letAnswersCome();
    expect(adds.map((add) => add())).toEqual([[{ used: 1 }], 'waits']);
    second.commit();
    await letAnswersCome();
    third.commit();

    expect(adds[1]!()).toEqual([{ used: 2 }]);
    expect(state('a')).toEqual({ state: 'open', used: 2 });
  });

  test('a transaction reads what is committed and what it wrote, and nothing that another one has not committed', async () => {
    const [first, second] = [database.begin(), database.begin()];
    const read = 'SELECT used FROM things WHERE id = $1';
    await send(first, USE, ['a']);
    await send(second, USE, ['b']);

    expect((await send(first, read, ['a']))()).toEqual([{ used: 1 }]);
    expect((await send(second, read, ['a']))()).toEqual([{ used: 0 }]);
    expect(state('a')).toEqual({ state: 'open', used: 0 });
    first.commit();

    expect((await send(second, read, ['a']))()).toEqual([{ used: 1 }]);
    expect((await send(second, read, ['b']))()).toEqual([{ used: 1 }]);
  });

  test.each<[string, 'commit' | 'rollback', string, readonly SqlRow[] | string]>([
    ['is refused if the first commits', 'commit', ADD, 'ERR_SQLITE_ERROR'],
    ['succeeds if the first rolls back', 'rollback', ADD, [{ id: 'e' }]],
    ['does nothing where it may', 'commit', ADD.replace('RETURNING', 'ON CONFLICT DO NOTHING RETURNING'), []],
    [
      'updates the new row where it may',
      'commit',
      ADD.replace('RETURNING', 'ON CONFLICT (name) DO UPDATE SET used = 7 RETURNING'),
      [{ id: 'd' }],
    ],
  ])('an insert of a key that another one has inserted waits, and %s', async (_what, end, text, answer) => {
    const [first, second] = [database.begin(), database.begin()];
    await send(first, ADD, ['d', 'dora']);

    const waiting = await send(second, text, ['e', 'dora']);
    expect(waiting()).toBe('waits');
    first[end]();
    await letAnswersCome();

    expect(waiting()).toEqual(answer);
  });

  test('rows that a partial index does not hold do not make one another wait', async () => {
    const [first, second] = [database.begin(), database.begin()];
    await send(first, "INSERT INTO objects VALUES ('1', 'task', 'staged'), ('2', 'task', 'result')");

    expect((await send(second, "INSERT INTO objects VALUES ('3', 'task', 'staged')"))()).toEqual([]);
    expect((await send(second, "INSERT INTO objects VALUES ('4', 'task', 'result')"))()).toBe('waits');
  });

  test('an insert waits for a row that was changed, and not for one that is only locked', async () => {
    const [first, second] = [database.begin(), database.begin()];
    await send(first, "SELECT id FROM things WHERE id = 'a' FOR UPDATE");
    await send(first, USE, ['b']);
    const add = "INSERT INTO things VALUES ($1, 'x', 'open', 0) ON CONFLICT DO NOTHING";

    expect((await send(second, add, ['a']))()).toEqual([]);
    expect((await send(second, add, ['b']))()).toBe('waits');
  });

  test('of two that wait for one another, the one that waited first is refused after a second', async () => {
    const [first, second] = [database.begin(), database.begin()];
    await send(first, USE, ['a']);
    await send(second, USE, ['b']);
    const firstWaits = await send(first, USE, ['b']);
    await runFor(DEADLOCK_MS / 2);
    const secondWaits = await send(second, USE, ['a']);
    expect([firstWaits(), secondWaits()]).toEqual(['waits', 'waits']);

    await runFor(DEADLOCK_MS / 2);

    expect([firstWaits(), secondWaits()]).toEqual(['40P01', [{ used: 1 }]]);
    expect((await send(first, USE, ['c']))()).toBe('25P02');
    expect([first.commit(), second.commit()]).toEqual([false, true]);
    expect([state('a'), state('b')]).toEqual([
      { state: 'open', used: 1 },
      { state: 'open', used: 1 },
    ]);
  });

  test('a statement over several rows keeps those before the one that it waits for', async () => {
    const [first, second] = [database.begin(), database.begin()];
    await send(first, USE, ['b']);
    const all = await send(second, 'UPDATE things SET used = used + 1 RETURNING id');
    const back = await send(first, USE, ['a']);
    expect([all(), back()]).toEqual(['waits', 'waits']);

    await runFor(DEADLOCK_MS);

    expect([all(), back()]).toEqual(['40P01', [{ used: 1 }]]);
  });

  test('a statement that waited leaves out the rows that it had not chosen', async () => {
    const [first, second] = [database.begin(), database.begin()];
    const next = `UPDATE things SET state = 'taken' WHERE state = 'open' AND id = (
      SELECT id FROM things WHERE state = 'open' ORDER BY id LIMIT 1) RETURNING id`;
    expect((await send(first, next))()).toEqual([{ id: 'a' }]);
    const waiting = await send(second, next);

    first.commit();
    await letAnswersCome();

    expect(waiting()).toEqual([]);
    expect((await send(second, next))()).toEqual([{ id: 'b' }]);
  });

  test('FOR UPDATE waits for the row and reads it again, and SKIP LOCKED leaves it out before its limit', async () => {
    const [first, second, third] = [database.begin(), database.begin(), database.begin()];
    await send(first, USE, ['a']);
    const waiting = await send(second, "SELECT id, used FROM things WHERE id IN ('a', 'b') ORDER BY id FOR UPDATE");
    const skip = "SELECT id FROM things WHERE state = 'open' OR used > 0 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED";

    expect(waiting()).toBe('waits');
    expect((await send(third, skip))()).toEqual([{ id: 'b' }]);
    first.commit();
    await letAnswersCome();
    expect(waiting()).toBe('waits');
    third.commit();
    await letAnswersCome();

    expect(waiting()).toEqual([
      { id: 'a', used: 1 },
      { id: 'b', used: 0 },
    ]);
    const rest = database.begin();
    const take = `UPDATE things SET used = 9 WHERE id IN (${skip.replace('LIMIT 1', 'LIMIT 3')}) RETURNING id`;
    expect((await send(rest, take))()).toEqual([{ id: 'c' }]);
  });

  test('a statement that waits is refused after the limit of a lock', async () => {
    const [first, second] = [database.begin(), database.begin()];
    await send(first, USE, ['a']);
    const waiting = await send(second, USE, ['a']);

    await runFor(9_999);
    expect(waiting()).toBe('waits');
    await runFor(1);

    expect(waiting()).toBe('55P03');
    expect(first.isOver()).toBe(false);
  });

  test('a transaction whose process sends nothing for half a minute is ended for those who wait', async () => {
    const [first, second] = [database.begin(), database.begin()];
    await send(first, USE, ['a']);
    await runFor(25_000);
    const waiting = await send(second, USE, ['a']);

    await runFor(5000);

    expect(waiting()).toEqual([{ used: 1 }]);
    expect((await send(first, USE, ['b']))()).toBe('25P03');
  });

  test('statements that were sent together run in their order, and fail together', async () => {
    const [first, second] = [database.begin(), database.begin()];
    await send(first, USE, ['b']);
    const sent = await Promise.all([send(second, USE, ['a']), send(second, USE, ['b']), send(second, ADD, ['c', 'x'])]);
    const last = await send(second, USE, ['a']);
    expect([...sent, last].map((answer) => answer())).toEqual([[{ used: 1 }], 'waits', 'waits', 'waits']);

    first.commit();
    await letAnswersCome();

    expect([...sent, last].map((answer) => answer())).toEqual([
      [{ used: 1 }],
      [{ used: 2 }],
      'ERR_SQLITE_ERROR',
      'ERR_SQLITE_ERROR',
    ]);
    expect(state('a')).toEqual({ state: 'open', used: 0 });
  });

  test('a write to a table whose rows have no name is an error', async () => {
    expect((await send(database.begin(), 'INSERT INTO unnamed VALUES (1)'))()).toBe('ERR_SQLITE_ERROR');
  });
});
