import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { beforeCommit } from '@reelgate/platform/testing/before-commit';
import { newIds } from '@reelgate/platform/ids';
import { migrate } from '@reelgate/platform/sql/migrate';
import { openPostgres } from '@reelgate/platform/sql/postgres';
import { StoreUnavailable } from '@reelgate/platform/sql/sql';
import type { Sql } from '@reelgate/platform/sql/sql';
import { aGate, inTime } from '@reelgate/platform/testing/bounded-waits';
import { createDatabase } from '@reelgate/platform/testing/create-database';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { until } from '@reelgate/platform/testing/until';
import { describeWith } from '../../../../../test/servers/describe-with.ts';
import { postgresServer } from '../../../../../test/servers/postgres-server.ts';
import { AT, begun, started } from '../../../testing/store/opened-store.ts';
import { aNewTask } from '../../../testing/tasks.ts';
import type { TaskStore } from '../task-store.ts';
import { sqlTaskStore } from './sql-task-store.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../../../migrations');
const LIMIT = 1000;
const ROUNDS = 15;
const CREATES = 20;
/** Too small for shards, so that all meet in the same rows. */
const SMALL = 63;
const CAPS = [
  { scope: 'token:token_1', limit: LIMIT },
  { scope: 'total', limit: LIMIT },
];
const SCOPES = ['token:token_1', 'token:token_2', 'total', 'channel:main'];

describeWith(postgresServer, 'counters over shards, in parallel', (url) => {
  const newId = newIds(fakeClock());
  const opened: Sql[] = [];
  let database = '';
  let databases = 0;
  beforeEach(async () => {
    database = await createDatabase(url(), `permits_${(databases += 1)}`);
    const sql = connect();
    await migrate(sql, MIGRATIONS);
  });
  afterEach(async () => {
    await Promise.allSettled(opened.splice(0).map((sql) => sql.close()));
  });
  const connect = (): Sql => {
    const sql = openPostgres(database);
    opened.push(sql);
    return sql;
  };
  const storeOn = (sql: Sql, shards?: number): TaskStore =>
    sqlTaskStore(sql, newId, () => ({ type: 'finished', payload: '{}' }), shards);

  /** A store whose transactions end their work and wait before the commit, from the moment of `hold`. */
  const stalling = () => {
    const sql = connect();
    const [gate, reached] = [aGate(), aGate()];
    let holds = false;
    const store = storeOn(
      beforeCommit(sql, async () => {
        if (!holds) return;
        holds = false;
        reached.open();
        await gate.opened;
      }),
    );
    return { store, gate, reached, hold: () => void (holds = true) };
  };

  test.each<[string, (store: TaskStore, id: string) => Promise<unknown>]>([
    ['a create', (store, id) => store.begin(aNewTask(`${id}_new`, { caps: CAPS }))],
    [
      'an attempt',
      (store, id) =>
        store.startAttempt(id, { number: 2, owner: 'proc_1', channel: 'main', inFlightMax: LIMIT, at: AT }),
    ],
    ['the end of a task', (store, id) => store.refuse(id, { code: 'x', message: 'y' }, AT)],
  ])('%s does not wait for the commit of another one', async (_what, call) => {
    const { store, gate, reached, hold } = stalling();
    await started(store, 'task_1', { caps: CAPS });
    await started(store, 'task_2', { caps: CAPS });
    hold();
    const first = call(store, 'task_1');
    await inTime(reached.opened);

    await inTime(call(store, 'task_2'));

    gate.open();
    await inTime(first);
    expect(await store.inFlight('total')).toBeGreaterThanOrEqual(0);
  });

  test('a connection that ends before its commit leaves no permit behind', async () => {
    const { store, gate, reached, hold } = stalling();
    await begun(store, 'task_1', { caps: CAPS });
    hold();
    const dying = store.begin(aNewTask('task_2', { caps: CAPS }));
    await inTime(reached.opened);

    const sql = connect();
    await sql.read(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND state = 'idle in transaction'`,
    );
    gate.open();

    await expect(inTime(dying)).rejects.toThrow();
    expect(await storeOn(sql).inFlight('total')).toBe(1);
    expect(await storeOn(sql).inFlight('token:token_1')).toBe(1);
  });

  /** A store that notes the transactions that the database gave up. */
  const noting = (faults: unknown[]): TaskStore => {
    const sql = connect();
    return storeOn({
      ...sql,
      transaction: (work, carrier) =>
        sql.transaction(work, carrier).catch((error: unknown) => {
          if (error instanceof StoreUnavailable) faults.push(error);
          throw error;
        }),
    });
  };

  test('creates of a moment in two processes never wait in a circle for their keys', async () => {
    const faults: unknown[] = [];
    const [one, other] = [noting(faults), noting(faults)];
    const { store, gate, reached, hold } = stalling();
    const order = Array.from({ length: CREATES }, (_, index) => index);
    const begin = (on: TaskStore, process: string, index: number) =>
      on.begin(
        aNewTask(`${process}_${index}`, {
          caps: [],
          idempotency: { key: `k_${index}`, fingerprint: 'f', expiresAt: 2 * AT },
        }),
      );
    hold();
    const middle = begin(store, 'middle', CREATES / 2);
    await inTime(reached.opened);
    const begins = Promise.all([
      ...order.map((index) => begin(one, 'one', index)),
      ...order.toReversed().map((index) => begin(other, 'other', index)),
    ]);
    const sql = connect();
    await until(async () => {
      const waiting = await sql.read(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      return waiting.length === 2;
    });

    gate.open();

    expect(await inTime(middle)).toBe('begun');
    expect((await inTime(begins)).filter((outcome) => outcome === 'begun')).toHaveLength(CREATES - 1);
    expect(faults).toEqual([]);
  });

  test('creates of a moment in two processes never wait in a circle for their counters', async () => {
    const faults: unknown[] = [];
    const stores = [noting(faults), noting(faults)];
    const order = Array.from({ length: CREATES }, (_, index) => index);
    // a token has as many makers wherever it stands
    const capsOf = (index: number) => [
      ...Array.from({ length: index % 4 }, (_, at) => ({ scope: `token:made_${index}_${at}`, limit: SMALL })),
      { scope: `token:root_${index % 5}`, limit: SMALL },
      { scope: 'total', limit: SMALL },
    ];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const ids = order.map((index) => [`one_${round}_${index}`, `other_${round}_${index}`] as const);
      const begins = stores.flatMap((store, side) =>
        (side === 0 ? order : order.toReversed()).map((index) =>
          store.begin(
            aNewTask(ids[index]![side]!, {
              caps: capsOf(index),
              attempt: { channel: `channel_${index % 3}`, inFlightMax: SMALL },
            }),
          ),
        ),
      );

      expect(await Promise.all(begins)).toEqual(begins.map(() => 'begun'));

      const refused = { code: 'x', message: 'y' };
      await Promise.all(ids.flat().map((id) => stores[0]!.refuse(id, refused, AT)));
    }

    expect(faults).toEqual([]);
  });

  type Step = readonly ['begin' | 'old' | 'start' | 'refuse' | 'end' | 'refuseAttempt', number, number];
  const steps: fc.Arbitrary<readonly Step[]> = fc.array(
    fc.tuple(
      fc.constantFrom('begin', 'begin', 'begin', 'start', 'start', 'refuse', 'end', 'refuseAttempt'),
      fc.nat({ max: 39 }),
      fc.nat({ max: 3 }),
    ),
    { minLength: 120, maxLength: 120 },
  );

  test('any mixture of steps and numbers of shards waits in no circle and counts exactly', async () => {
    const sql = connect();
    const stores = [storeOn(sql, 32), storeOn(connect(), 2), storeOn(connect(), 1), storeOn(connect())];
    let run = 0;
    await fc.assert(
      fc.asyncProperty(steps, fc.constantFrom(20, 70, 100), async (chosen, limit) => {
        run += 1;
        const capsOf = (token: string) => [
          { scope: `token:${token}`, limit: 64 },
          { scope: 'total', limit },
        ];
        await Promise.all(
          chosen.map(async ([step, task, at]) => {
            const [id, tokenId] = [`task_${run}_${task}`, `token_${1 + (task % 2)}`];
            const store = stores[at]!;
            if (step === 'begin') await store.begin(aNewTask(id, { tokenId, caps: capsOf(tokenId) })).catch(isTaken);
            if (step === 'start')
              await store
                .startAttempt(id, { number: 1, owner: 'proc_1', channel: 'main', inFlightMax: 66, at: AT })
                .catch(isTaken);
            if (step === 'refuseAttempt')
              await store.refuseAttempt(id, { number: 1, channel: 'main', error: 'busy', at: AT });
            if (step === 'refuse') await store.refuse(id, { code: 'x', message: 'y' }, AT);
            if (step === 'end' && (await store.find(id)) !== undefined)
              await store.refuse(id, { code: 'x', message: 'y' }, AT);
          }),
        );
        const counted = (await sql.read<{ in_flight_json: string }>('SELECT in_flight_json FROM tasks')).flatMap(
          (row) => JSON.parse(row.in_flight_json) as string[],
        );
        const expected = SCOPES.map((scope) => counted.filter((one) => one === scope).length);
        expect(await Promise.all(SCOPES.map((scope) => stores[0]!.inFlight(scope)))).toEqual(expected);
        expect(expected[2]).toBeLessThanOrEqual(100);
        expect(expected[3]).toBeLessThanOrEqual(66);
        // the permits that the shards have are taken in the counter
        const [beyond] = await sql.read(
          'SELECT COUNT(*) AS count FROM in_flight WHERE shard_of IS NOT NULL AND count > permits',
        );
        expect(Number(beyond!['count'])).toBe(0);
      }),
      { numRuns: 6 },
    );
  });
});

/** A task of this name exists, or has no create under way. Anything else, such as a deadlock, is a fault. */
function isTaken(error: unknown): void {
  if (!/duplicate key|was taken over/.test(String(error))) throw error;
}
