import path from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { newIds } from '@reelgate/platform/ids';
import { migrate } from '@reelgate/platform/sql/migrate';
import type { Sql } from '@reelgate/platform/sql/sql';
import { describeOnEngines } from '../../../testing/store/describe-on-engines.ts';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { seeded } from '../../../../../test/harness/seeded.ts';
import { aContextIr, anOrder } from '../../../testing/orders.ts';
import { AT, accepted, begun, completed, idsOf, unknown } from '../../../testing/store/opened-store.ts';
import type { State } from '../../domain/task.ts';
import type { ListFilter, StepStore, TaskStore } from '../task-store.ts';
import { sqlListSteps } from './sql-list-steps.ts';
import { sqlTaskStore } from './sql-task-store.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../../../migrations');
const TASKS = 60;
const FILTERS = 60;
const EXAMINED = 7;
const STATES: readonly State[] = ['queued', 'in_progress', 'completed', 'failed'];
const ORDERS = [anOrder(), anOrder({ model: 'Other-V1' }), aContextIr()];

/** Makes a task of one kind of fate. */
const FATES: readonly ((store: TaskStore, id: string, changes: object) => Promise<unknown>)[] = [
  accepted,
  unknown,
  completed,
  begun,
  async (store, id, changes) => {
    await accepted(store, id, changes);
    await store.finish(id, { state: 'failed', at: AT });
  },
  async (store, id, changes) => {
    await accepted(store, id, changes);
    const at = { at: AT, nextPollAt: AT };
    await store.progress(id, 'queued', {
      state: 'in_progress',
      unrecognised: false,
      progress: 1,
      pollErrors: 0,
      ...at,
    });
  },
  async (store, id, changes) => {
    await begun(store, id, changes);
    await store.refuse(id, { code: 'x', message: 'y' }, AT);
  },
  async (store, id, changes) => {
    await completed(store, id, changes);
    await store.remove(id, AT);
  },
];

describeOnEngines('lists in steps', (open) => {
  let sql: Sql;
  let store: TaskStore;
  let steps: StepStore;
  const times: number[] = [];
  beforeEach(async () => {
    sql = open();
    await migrate(sql, MIGRATIONS);
    const clock = fakeClock();
    const newId = newIds(clock);
    store = sqlTaskStore(sql, newId, () => ({ type: 'finished', payload: '{}' }));
    steps = sqlListSteps(sql, store, { examinedMax: EXAMINED, unfinishedMax: EXAMINED });
    const chance = seeded(1);
    times.length = 0;
    for (let made = 0; made < TASKS; made += 1) {
      const accountId = chance.pick(['acme', 'acme', 'rival']);
      const caps = [{ scope: 'total', limit: 1000 }];
      const changes = { accountId, caps, order: chance.pick(ORDERS), channel: chance.pick(['main', 'second']) };
      times.push(clock.now());
      await chance.pick(FATES)(store, newId('task'), changes);
      await clock.advance(1000);
    }
  });

  describe('for any filter', () => {
    test('the steps together are the whole list, in its order, and each is bounded', async () => {
      const chance = seeded(2);
      const maybe = <T>(value: T): T | undefined => (chance.chance() < 0.4 ? value : undefined);
      for (let round = 0; round < FILTERS; round += 1) {
        const isOperator = chance.chance() < 0.5;
        const filter: ListFilter = {
          hidden: isOperator,
          accountId: isOperator ? maybe('acme') : 'acme',
          states: maybe(STATES.filter(() => chance.chance() < 0.5)),
          model: maybe('Other-V1'),
          kind: maybe('context_ir'),
          channel: maybe('second'),
          createdFrom: maybe(chance.pick(times)),
          createdBefore: maybe(chance.pick(times)),
        };
        const ascending = chance.chance() < 0.5;
        const limit = chance.whole(1, 5);

        const whole = idsOf(await store.list(filter, { limit: TASKS, ascending }));
        const found: string[] = [];
        let after: string | undefined;
        let answers = 0;
        do {
          const { tasks, continueAfter } = await steps.listStep(filter, { limit, ascending, after });
          expect(tasks.length).toBeLessThanOrEqual(limit);
          found.push(...idsOf(tasks));
          answers += 1;
          after = continueAfter;
        } while (after !== undefined);

        expect([filter, found]).toEqual([filter, whole]);
        expect(answers).toBeLessThanOrEqual(Math.ceil(TASKS / EXAMINED) + Math.ceil(whole.length / limit));
      }
    });
  });

  test('a step ends early when it has examined enough, and says where', async () => {
    const ids = idsOf(await store.list({ hidden: true }, { limit: TASKS }));

    expect(await steps.listStep({ hidden: true, model: 'None' }, { limit: 5 })).toEqual({
      tasks: [],
      continueAfter: ids[EXAMINED - 1],
    });
    expect(
      await steps.listStep({ hidden: true, model: 'None' }, { limit: 5, after: ids[TASKS - EXAMINED - 1] }),
    ).toEqual({ tasks: [], continueAfter: undefined });
  });

  test('the last unfinished task is found at once, however many newer tasks have ended', async () => {
    await sql.write("UPDATE tasks SET state = 'completed', finished_at = 1 WHERE finished_at IS NULL");
    const clock = fakeClock(0);
    const oldest = newIds(clock)('task');
    await accepted(store, oldest, { caps: [] });

    for (const filter of [{ accountId: 'acme' }, { hidden: true }])
      expect(idsOf((await steps.listStep({ ...filter, states: ['queued'] }, { limit: 5 })).tasks)).toEqual([oldest]);
  });

  test('a task is found by its upstream id at the accounts that are named', async () => {
    await accepted(store, 'task_x', { caps: [] });
    const found = async (...accounts: readonly string[]): Promise<string[]> =>
      idsOf((await steps.listStep({ hidden: true, upstream: { accounts, id: 'up-task_x' } }, { limit: 5 })).tasks);

    expect(await found('other', 'vendor')).toEqual(['task_x']);
    expect(await found('other')).toEqual([]);
    expect(await found()).toEqual([]);
  });
});
