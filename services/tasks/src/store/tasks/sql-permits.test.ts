import path from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { newIds } from '@reelgate/platform/ids';
import { migrate } from '@reelgate/platform/sql/migrate';
import type { Sql } from '@reelgate/platform/sql/sql';
import { describeOnEngines } from '../../../testing/store/describe-on-engines.ts';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { AT, begun, started } from '../../../testing/store/opened-store.ts';
import { aNewTask } from '../../../testing/tasks.ts';
import type { TaskStore } from '../task-store.ts';
import { sqlTaskStore } from './sql-task-store.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../../../migrations');
const SHARDS = 3;
/** Enough for three shards. */
const LIMIT = 100;
/** More creates than the limit. */
const MORE = LIMIT + 30;
const REFUSED = { code: 'invalid_media', message: 'not found' };

const capsOf = (total: number, tokenId = 'token_1') => [
  { scope: `token:${tokenId}`, limit: 10_000 },
  { scope: 'total', limit: total },
];
const ids = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}_${String(index).padStart(3, '0')}`);

describeOnEngines('counters that are spread over shards', (open) => {
  const newId = newIds(fakeClock());
  const storeOn = (sql: Sql, shards: number): TaskStore =>
    sqlTaskStore(sql, newId, () => ({ type: 'finished', payload: '{}' }), shards);
  let sql: Sql;
  let store: TaskStore;
  let other: TaskStore;
  beforeEach(async () => {
    sql = open();
    await migrate(sql, MIGRATIONS);
    store = storeOn(sql, SHARDS);
    other = storeOn(open(), SHARDS);
  });
  const shardsOf = async (scope: string): Promise<{ row: string; count: number; permits: number }[]> =>
    (await sql.read('SELECT scope, count, permits FROM in_flight WHERE shard_of = $1 ORDER BY scope', [scope])).map(
      (row) => ({ row: String(row['scope']), count: Number(row['count']), permits: Number(row['permits']) }),
    );
  /** Begins tasks at the same time in the given processes, and returns how many were admitted. */
  const beginAll = async (names: readonly string[], limit: number, stores: readonly TaskStore[]): Promise<number> => {
    const outcomes = await Promise.all(
      names.map((id, index) => stores[index % stores.length]!.begin(aNewTask(id, { caps: capsOf(limit) }))),
    );
    for (const outcome of outcomes) expect(['begun', { capped: 'total' }]).toContainEqual(outcome);
    return outcomes.filter((outcome) => outcome === 'begun').length;
  };
  const endAll = (names: readonly string[], by: TaskStore = store): Promise<unknown> =>
    Promise.all(names.map((id) => by.refuse(id, REFUSED, AT)));
  const living = async (): Promise<string[]> =>
    (await sql.read("SELECT id FROM tasks WHERE in_flight_json <> '[]' ORDER BY id")).map((row) => String(row['id']));

  test('admit exactly the limit of creates at once, over all shards', async () => {
    expect(await beginAll(ids('task', MORE), LIMIT, [store, other])).toBe(LIMIT);

    expect(await store.inFlight('total')).toBe(LIMIT);
    expect((await shardsOf('total')).filter(({ count }) => count > 0)).toHaveLength(SHARDS);
    expect(await living()).toHaveLength(LIMIT);
  });

  test('admit exactly what is free when the shards are uneven and the limit is near', async () => {
    await beginAll(ids('task', LIMIT), LIMIT, [store, other]);
    const [first] = await shardsOf('total');
    const inFirst = (await sql.read(`SELECT id FROM tasks WHERE shards_json LIKE '%"${first!.row}"%' ORDER BY id`)).map(
      (row) => String(row['id']),
    );
    await endAll(inFirst);
    expect(await shardsOf('total')).toContainEqual({ ...first, count: 0 });

    expect(await beginAll(ids('more', 2 * inFirst.length), LIMIT, [store, other])).toBe(inFirst.length);

    expect(await store.inFlight('total')).toBe(LIMIT);
  });

  test('count nothing more once all tasks have ended, and keep no permit', async () => {
    for (let round = 0; round < 2; round += 1) {
      const names = ids(`round${round}`, LIMIT);
      expect(await beginAll(names, LIMIT, [store, other])).toBe(LIMIT);
      await endAll(names, other);
      await endAll(names, store);
      expect(await store.inFlight('total')).toBe(0);
      expect(await store.inFlight('token:token_1')).toBe(0);
    }
  });

  test('admit no create above a limit that was lowered, and exactly that limit afterwards', async () => {
    const names = ids('task', LIMIT);
    await beginAll(names, LIMIT, [store, other]);
    const lowered = 70;

    expect(await beginAll(ids('above', 20), lowered, [store, other])).toBe(0);
    await endAll(names.slice(0, LIMIT - lowered));
    expect(await beginAll(ids('at', 20), lowered, [store, other])).toBe(0);
    await endAll(names.slice(LIMIT - lowered, LIMIT - lowered + 7));
    expect(await beginAll(ids('below', 20), lowered, [store, other])).toBe(7);
    expect(await beginAll(ids('small', 20), 40, [store, other])).toBe(0);
    await endAll(names.slice(LIMIT - lowered + 7, LIMIT - lowered + 40));

    // 40 permits are no reason for shards
    expect(await beginAll(ids('few', 20), 40, [store, other])).toBe(3);
    expect(await store.inFlight('total')).toBe(40);
  });

  test('admit more at once when the limit is raised', async () => {
    await beginAll(ids('task', 40), 40, [store, other]);

    expect(await beginAll(ids('more', MORE), LIMIT, [store, other])).toBe(LIMIT - 40);
    expect(await beginAll(ids('most', 30), LIMIT + 20, [store, other])).toBe(20);
  });

  test('stay exact while processes with other numbers of shards run beside', async () => {
    const stores = [1, 2, SHARDS, 4].map((shards) => storeOn(sql, shards));
    const names = ids('task', MORE);
    expect(await beginAll(names, LIMIT, stores)).toBe(LIMIT);
    const ended = (await living()).filter((_id, index) => index % 3 === 0);
    await Promise.all(ended.map((id, index) => stores[index % stores.length]!.refuse(id, REFUSED, AT)));

    for (const [index, one] of stores.entries()) {
      const all = await beginAll(ids(`only${index}`, ended.length), LIMIT, [one]);
      expect(all).toBe(index === 0 ? ended.length : 0);
    }
    await endAll(await living(), stores[1]);
    // fewer shards: what the others have left over is not lost
    expect(await beginAll(ids('again', MORE), LIMIT, [stores[1]!])).toBe(LIMIT);
  });

  test('a channel counts each attempt in a shard, and a refused attempt leaves it once', async () => {
    await Promise.all(ids('task', MORE).map((id) => begun(store, id, { caps: [] })));
    const attempt = { number: 1, owner: 'proc_1', channel: 'main', inFlightMax: LIMIT, at: AT };
    const through = await Promise.all(
      ids('task', MORE).map((id, index) => (index % 2 === 0 ? store : other).startAttempt(id, attempt)),
    );
    expect(through.filter(Boolean)).toHaveLength(LIMIT);
    const [one] = ids('task', MORE).filter((_id, index) => through[index]);

    const refused = { number: 1, channel: 'main', error: 'busy', at: AT };
    await Promise.all([store.refuseAttempt(one!, refused), other.refuseAttempt(one!, refused)]);
    expect(await store.inFlight('channel:main')).toBe(LIMIT - 1);
    expect(await store.startAttempt(one!, { ...attempt, number: 2 })).toBe(true);
    expect(await store.inFlight('channel:main')).toBe(LIMIT);
    await store.refuse(one!, REFUSED, AT);

    expect(await store.inFlight('channel:main')).toBe(LIMIT - 1);
  });

  test('an account keeps to its share of a channel, and leaves its counter with that of the channel', async () => {
    const attempt = { number: 1, owner: 'proc_1', channel: 'main', inFlightMax: LIMIT, at: AT };
    const startAll = async (names: readonly string[], accountId: string, inFlightMax: number): Promise<string[]> => {
      await Promise.all(names.map((id) => store.begin(aNewTask(id, { accountId, caps: [] }))));
      const ofAccount = { accountId, inFlightMax };
      const through = await Promise.all(
        names.map((id, index) => (index % 2 === 0 ? store : other).startAttempt(id, { ...attempt, ofAccount })),
      );
      return names.filter((_id, index) => through[index]);
    };
    const counts = (): Promise<number[]> =>
      Promise.all(['', ':account:one', ':account:two'].map((of) => store.inFlight(`channel:main${of}`)));
    const ofOne = await startAll(ids('one', MORE), 'one', 70);
    const ofTwo = await startAll(ids('two', MORE), 'two', LIMIT);
    expect(await counts()).toEqual([LIMIT, 70, LIMIT - 70]);

    const [refused = '', ...rest] = ofOne;
    await store.refuseAttempt(refused, { number: 1, channel: 'main', error: 'busy', at: AT });
    expect(await counts()).toEqual([LIMIT - 1, 69, LIMIT - 70]);
    expect(await startAll(['one_more'], 'one', 69)).toEqual([]);
    const second = { ...attempt, number: 2, ofAccount: { accountId: 'one', inFlightMax: 70 } };
    expect(await store.startAttempt(refused, second)).toBe(true);
    await endAll([refused, ...rest, ...ofTwo], other);

    expect(await counts()).toEqual([0, 0, 0]);
  });

  test('an attempt that no account counts leaves the channel alone', async () => {
    await begun(store, 'task_1', { caps: [] });
    await begun(store, 'task_2', { caps: [] });
    const attempt = { number: 1, owner: 'proc_1', channel: 'main', inFlightMax: 5, at: AT };
    for (const id of ['task_1', 'task_2']) await store.startAttempt(id, attempt);

    await store.refuseAttempt('task_1', { number: 1, channel: 'main', error: 'busy', at: AT });
    await store.refuse('task_2', REFUSED, AT);

    expect(await store.inFlight('channel:main')).toBe(0);
  });

  test('an attempt that no shard counts leaves the counter itself, although an earlier one was in a shard', async () => {
    await begun(store, 'task_1', { caps: [] });
    const attempt = { owner: 'proc_1', channel: 'main', at: AT };
    const limits = [LIMIT, 1, LIMIT, 1];
    for (const [index, inFlightMax] of limits.entries()) {
      const number = index + 1;
      expect(await store.startAttempt('task_1', { ...attempt, number, inFlightMax })).toBe(true);
      await store.refuseAttempt('task_1', { number, channel: 'main', error: 'busy', at: AT });
      expect(await store.inFlight('channel:main')).toBe(0);
    }
  });

  test('a hard deadline frees the shards of the token and of all tasks, and the end that of the channel', async () => {
    await started(store, 'task_1', { caps: [{ scope: 'token:token_1', limit: LIMIT }, ...capsOf(LIMIT).slice(1)] });
    await store.leaveUnknown('task_1', {
      number: 1,
      mapping: { channel: 'main', upstreamAccount: 'vendor' },
      error: 'timed out',
      at: AT,
    });
    const counts = () => Promise.all(['token:token_1', 'total', 'channel:main'].map((scope) => store.inFlight(scope)));
    expect(await counts()).toEqual([1, 1, 1]);

    await store.passDeadline('task_1', 'hard', AT);
    expect(await counts()).toEqual([0, 0, 1]);
    await store.finish('task_1', { state: 'failed', at: AT });
    expect(await counts()).toEqual([0, 0, 0]);
  });
});
