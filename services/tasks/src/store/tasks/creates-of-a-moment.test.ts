import path from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { newIds } from '@reelgate/platform/ids';
import { migrate } from '@reelgate/platform/sql/migrate';
import { StoreUnavailable } from '@reelgate/platform/sql/sql';
import type { Sql, SqlRow, SqlStatement, SqlValue, SqlWork } from '@reelgate/platform/sql/sql';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { describeOnEngines } from '../../../testing/store/describe-on-engines.ts';
import { AT, inFlight, numbered, outcomes, started } from '../../../testing/store/opened-store.ts';
import { aNewTask } from '../../../testing/tasks.ts';
import type { BeginResult, NewTask, TaskStore } from '../task-store.ts';
import { sqlTaskStore } from './sql-task-store.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../../../migrations');
const MANY = 30;
const PLENTY = 1_000_000;
const ATTEMPT = { channel: 'main', inFlightMax: PLENTY };
const capsOf = (token: string, limit = PLENTY) => [
  { scope: `token:${token}`, limit },
  { scope: 'total', limit: PLENTY },
];
const SCOPES = ['token:token_1', 'token:token_2', 'total', 'channel:main'];
const key = (name: string, expiresAt = AT + 1000) => ({ key: name, fingerprint: `print of ${name}`, expiresAt });
const acceptance = (upstreamId: string) => ({
  number: 1,
  mapping: { channel: 'main', upstreamAccount: 'vendor', upstreamId },
  at: AT + 1,
  nextPollAt: AT + 3000,
});

interface Steps {
  /** Runs before each statement of a transaction. */
  readonly before?: (text: string) => void;
  /** Runs after each commit of a transaction. */
  readonly after?: () => void;
}

describeOnEngines('creates of one moment', (open) => {
  const newId = newIds(fakeClock());
  let sql: Sql;
  let store: TaskStore;
  let transactions = 0;
  let messages = 0;
  let steps: Steps = {};

  /** The database of the store, which counts what the store asks of it. */
  const counted = (): Sql => ({
    ...sql,
    transaction: async (work, carrier) => {
      transactions += 1;
      const result = await sql.transaction((query) => work(stepping(query)), carrier);
      steps.after?.();
      return result;
    },
    changeAll: async (statements) => {
      messages += 1;
      for (const [text] of statements) steps.before?.(text);
      const changes = await sql.changeAll(statements);
      steps.after?.();
      return changes;
    },
  });
  const stepping = (query: SqlWork): SqlWork =>
    Object.assign(
      async <R extends SqlRow>(text: string, values?: readonly SqlValue[]) => {
        steps.before?.(text);
        return query<R>(text, values);
      },
      {
        changes: query.changes,
        atEnd: (...statements: readonly SqlStatement[]) => {
          query.atEnd(...statements);
        },
      },
    );

  beforeEach(async () => {
    sql = open();
    await migrate(sql, MIGRATIONS);
    [transactions, messages, steps] = [0, 0, {}];
    store = sqlTaskStore(counted(), newId, () => ({ type: 'finished', payload: '{}' }), 3);
  });
  const beginAll = (tasks: readonly NewTask[]): Promise<readonly BeginResult[]> =>
    Promise.all(tasks.map((task) => store.begin(task)));
  const readIds = async (): Promise<readonly string[]> =>
    (await sql.read('SELECT id FROM tasks ORDER BY id')).map((row) => String(row['id']));
  /** Each task is counted once in each of its counters. */
  const expectCounted = async (): Promise<void> => {
    const rows = await sql.read<{ in_flight_json: string }>('SELECT in_flight_json FROM tasks');
    const scopes = rows.flatMap((row) => JSON.parse(row.in_flight_json) as string[]);
    expect(await inFlight(store, ...SCOPES)).toEqual(
      SCOPES.map((scope) => scopes.filter((one) => one === scope).length),
    );
  };

  describe('begin', () => {
    test('in one transaction, each with its key, its first attempt and its counters', async () => {
      // the permits of the shards are dealt out before
      for (const token of ['token_1', 'token_2'])
        await store.begin(aNewTask(`first_of_${token}`, { caps: capsOf(token), attempt: ATTEMPT }));
      transactions = 0;
      const tasks = numbered(MANY).map((id, at) =>
        aNewTask(id, { caps: capsOf(`token_${1 + (at % 2)}`), idempotency: key(id), attempt: ATTEMPT }),
      );

      expect(await beginAll(tasks)).toEqual(tasks.map(() => 'begun'));

      expect(transactions).toBe(1);
      for (const id of numbered(MANY)) {
        expect(await store.findKey('acme', id, AT)).toEqual({ fingerprint: `print of ${id}`, taskId: id });
        expect(await outcomes(store, id)).toEqual(['started']);
        expect(await store.find(id)).toMatchObject({ id, admission: 'submitting', seconds: 5 });
      }
      expect(await inFlight(store, ...SCOPES)).toEqual([16, 16, 32, 32]);
      await expectCounted();
    });

    test('together although no shard has permits yet, which one of them deals out for all', async () => {
      expect(await beginAll(numbered(MANY).map((id) => aNewTask(id, { caps: capsOf('token_1') })))).toEqual(
        numbered(MANY).map(() => 'begun'),
      );

      // a try without permits, and the deal
      expect(transactions).toBeLessThanOrEqual(2);
      await expectCounted();
    });

    test('and end later in the counters that count them', async () => {
      const tasks = numbered(MANY).map((id, at) => aNewTask(id, { caps: capsOf(`token_${1 + (at % 2)}`) }));
      await beginAll(tasks);

      await Promise.all(numbered(MANY).map((id) => store.refuse(id, { code: 'x', message: 'y' }, AT)));

      expect(await inFlight(store, ...SCOPES)).toEqual([0, 0, 0, 0]);
    });

    test('and one whose key another task has refuses no other', async () => {
      await store.begin(aNewTask('task_old', { idempotency: key('k') }));

      expect(
        await beginAll([aNewTask('task_1'), aNewTask('task_2', { idempotency: key('k') }), aNewTask('task_3')]),
      ).toEqual(['begun', 'key_taken', 'begun']);

      expect(await readIds()).toEqual(['task_1', 'task_3', 'task_old']);
      expect(await store.findKey('acme', 'k', AT)).toMatchObject({ taskId: 'task_old' });
      await expectCounted();
    });

    test('and a key that two of them share gets one task', async () => {
      expect(
        await beginAll([
          aNewTask('task_1', { idempotency: key('k') }),
          aNewTask('task_2', { idempotency: key('k') }),
          aNewTask('task_3', { accountId: 'rival', idempotency: key('k') }),
          aNewTask('task_4', { idempotency: key('l') }),
        ]),
      ).toEqual(['begun', 'key_taken', 'begun', 'begun']);

      expect(await readIds()).toEqual(['task_1', 'task_3', 'task_4']);
      expect(await store.findKey('acme', 'k', AT)).toMatchObject({ taskId: 'task_1' });
      await expectCounted();
    });

    test('and a key that expires between two of them is free for the later one alone', async () => {
      for (const name of ['early', 'late'])
        await store.begin(aNewTask(`old_${name}`, { idempotency: key(name, AT + 10) }));

      expect(
        await beginAll([
          aNewTask('task_1', { createdAt: AT + 9, idempotency: key('early', AT + 5000) }),
          aNewTask('task_2', { createdAt: AT + 10, idempotency: key('late', AT + 5000) }),
        ]),
      ).toEqual(['key_taken', 'begun']);

      expect(await store.findKey('acme', 'late', AT + 10)).toMatchObject({ taskId: 'task_2' });
    });

    test('and a full counter is told to those that it counts, as many as are beyond its limit', async () => {
      const caps = [capsOf('token_1', 2), capsOf('token_2')];
      const tasks = numbered(8).map((id, at) => aNewTask(id, { caps: caps[at % 2]! }));

      const begun = await beginAll(tasks);

      const [limited, others] = [0, 1].map((side) => begun.filter((_one, at) => at % 2 === side));
      expect(others).toEqual(['begun', 'begun', 'begun', 'begun']);
      expect(limited!.filter((one) => one === 'begun')).toHaveLength(2);
      expect(limited!.filter((one) => one !== 'begun')).toEqual([
        { capped: 'token:token_1' },
        { capped: 'token:token_1' },
      ]);
      await expectCounted();
    });

    test('and a token at its limit keeps no others from their transaction, until it has room again', async () => {
      const limited = (id: string) => aNewTask(id, { caps: capsOf('token_1', 1) });
      const others = (round: number) => numbered(4).map((id) => aNewTask(`${round}_${id}`, { caps: [] }));
      await store.begin(limited('task_1'));
      await beginAll([limited('task_2'), ...others(1)]);
      transactions = 0;

      expect(await beginAll([limited('task_2'), ...others(2)])).toEqual([
        { capped: 'token:token_1' },
        ...others(2).map(() => 'begun'),
      ]);
      // that of the others, and the try of the one
      expect(transactions).toBe(2);

      await store.refuse('task_1', { code: 'x', message: 'y' }, AT);
      expect(await beginAll([limited('task_2'), ...others(3)])).toEqual(['begun', ...others(3).map(() => 'begun')]);
      await store.refuse('task_2', { code: 'x', message: 'y' }, AT);
      transactions = 0;
      await beginAll([limited('task_3'), ...others(4)]);
      expect(transactions).toBe(1);
    });

    test('and a channel that is full refuses only those that start on it', async () => {
      const full = { channel: 'main', inFlightMax: 0 };

      expect(await beginAll([aNewTask('task_1', { attempt: full }), aNewTask('task_2')])).toEqual([
        { capped: 'channel:main' },
        'begun',
      ]);

      expect(await readIds()).toEqual(['task_2']);
    });

    test('and the lower of two limits of a counter holds for those that know it', async () => {
      const caps = (limit: number) => [{ scope: 'total', limit }];
      await beginAll(numbered(3).map((id) => aNewTask(`old_${id}`, { caps: caps(100) })));

      const begun = await beginAll([
        aNewTask('task_1', { caps: caps(3) }),
        aNewTask('task_2', { caps: caps(100) }),
        aNewTask('task_3', { caps: caps(100) }),
      ]);

      expect(begun).toEqual([{ capped: 'total' }, 'begun', 'begun']);
      expect(await store.inFlight('total')).toBe(5);
    });

    test.each([
      ['before', false],
      ['while', true],
    ])('and one whose caller leaves %s they are written leaves nothing, and stops no other', async (_when, isLater) => {
      const caller = new AbortController();
      const leave = (): void => {
        caller.abort(new Error('left'));
      };
      if (isLater) steps = { before: leave };
      const begins = [
        store.begin(aNewTask('task_1')),
        store.begin(aNewTask('task_2', { idempotency: key('k') }), caller.signal),
        store.begin(aNewTask('task_3')),
      ];
      if (!isLater) leave();

      expect((await Promise.allSettled(begins)).map(({ status }) => status)).toEqual([
        'fulfilled',
        'rejected',
        'fulfilled',
      ]);

      expect(await readIds()).toEqual(['task_1', 'task_3']);
      expect(await store.findKey('acme', 'k', AT)).toBeUndefined();
      await expectCounted();
    });

    test('and one that fails fails alone, and nothing is written twice', async () => {
      await store.begin(aNewTask('task_1'));

      const begins = await Promise.allSettled(
        ['task_0', 'task_1', 'task_2'].map((id) => store.begin(aNewTask(id, { attempt: ATTEMPT }))),
      );

      expect(begins.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect(await readIds()).toEqual(['task_0', 'task_1', 'task_2']);
      expect(await outcomes(store, 'task_0')).toEqual(['started']);
      expect(await outcomes(store, 'task_1')).toEqual([]);
      await expectCounted();
    });

    test('alone, if the database gave up their transaction and surely wrote nothing', async () => {
      let isFirst = true;
      steps = {
        before: () => {
          if (!isFirst) return;
          isFirst = false;
          throw new StoreUnavailable('deadlock detected', { isContention: true });
        },
      };

      expect(await beginAll(numbered(3).map((id) => aNewTask(id, { idempotency: key(id) })))).toEqual([
        'begun',
        'begun',
        'begun',
      ]);

      expect(await readIds()).toEqual(numbered(3));
      await expectCounted();
    });

    test('once, if the database is away: each is told so, and none waits for it again', async () => {
      steps = {
        before: () => {
          throw new StoreUnavailable('connection refused');
        },
      };

      const begins = await Promise.allSettled(numbered(3).map((id) => store.begin(aNewTask(id))));

      expect(begins.map((one) => (one.status === 'rejected' ? (one.reason as unknown) : 'begun'))).toEqual(
        numbered(3).map(() => expect.objectContaining({ name: 'StoreUnavailable', maybeWritten: false })),
      );
      expect(transactions).toBe(1);
    });

    test('never again, if the answer to their commit was lost: each is told that it may be written', async () => {
      steps = {
        after: () => {
          throw new StoreUnavailable('the answer was lost', { maybeWritten: true });
        },
      };

      const begins = await Promise.allSettled(
        numbered(3).map((id) => store.begin(aNewTask(id, { caps: capsOf('token_1', 20), idempotency: key(id) }))),
      );

      expect(begins.map((one) => (one.status === 'rejected' ? (one.reason as unknown) : 'begun'))).toEqual(
        numbered(3).map(() => expect.objectContaining({ name: 'StoreUnavailable', maybeWritten: true })),
      );
      expect(await readIds()).toEqual(numbered(3));
      expect(await store.inFlight('token:token_1')).toBe(3);
    });
  });

  describe('are accepted', () => {
    const accept = (id: string, upstreamId = `up-${id}`) => store.accept(id, acceptance(upstreamId));
    beforeEach(async () => {
      for (const id of numbered(4)) await started(store, id);
      [messages, transactions] = [0, 0];
    });

    test('in one message, each with its own work', async () => {
      // in no order of their ids
      const ids = ['task_002', 'task_000', 'task_003', 'task_001'];
      expect(await Promise.all(ids.map((id) => accept(id)))).toEqual(ids.map(() => 'accepted'));

      expect(messages).toBe(1);
      for (const id of ids) {
        expect(await store.find(id)).toMatchObject({ admission: 'accepted', mapping: { upstreamId: `up-${id}` } });
        expect(await store.attempts(id)).toMatchObject([{ outcome: 'accepted', upstreamId: `up-${id}` }]);
      }
    });

    test('and work that two of them name belongs to one of them', async () => {
      const answers = await Promise.all([accept('task_000', 'up-1'), accept('task_001', 'up-1'), accept('task_002')]);

      expect(answers.toSorted()).toEqual(['accepted', 'accepted', 'id_known']);
      expect(answers[2]).toBe('accepted');
    });

    test('and one that was decided over before changes nothing, and stops no other', async () => {
      await store.refuse('task_000', { code: 'x', message: 'y' }, AT);

      expect(await Promise.all([accept('task_000'), accept('task_001')])).toEqual([undefined, 'accepted']);

      expect(await store.find('task_000')).toMatchObject({ admission: 'refused' });
    });

    test('each alone, if their message fails and surely wrote nothing', async () => {
      let isFirst = true;
      steps = {
        before: () => {
          if (!isFirst) return;
          isFirst = false;
          throw new Error('a statement failed');
        },
      };

      expect(await Promise.all([accept('task_000'), accept('task_001')])).toEqual(['accepted', 'accepted']);

      expect(messages).toBe(3);
    });

    test('and none is repeated by the store, if the answer was lost', async () => {
      steps = {
        after: () => {
          throw new StoreUnavailable('the answer was lost', { maybeWritten: true });
        },
      };

      const answers = await Promise.allSettled([accept('task_000'), accept('task_001')]);

      expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      expect([messages, transactions]).toEqual([1, 0]);
    });
  });
});
