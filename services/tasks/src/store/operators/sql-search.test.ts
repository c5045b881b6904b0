import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import path from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { firstIdAt, newIds } from '@reelgate/platform/ids';
import { migrate } from '@reelgate/platform/sql/migrate';
import type { Sql } from '@reelgate/platform/sql/sql';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { describeOnEngines } from '../../../testing/store/describe-on-engines.ts';
import { aNewTask } from '../../../testing/tasks.ts';
import type { NewTask } from '../task-store.ts';
import { sqlTaskStore } from '../tasks/sql-task-store.ts';
import type { FoundBy } from '../operator-store.ts';
import { sqlSearch } from './sql-search.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../../../migrations');
const AT = Date.UTC(2026, 0, 1);
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

describeOnEngines('the search of operators', (open) => {
  let sql: Sql;
  beforeEach(async () => {
    sql = open();
    await migrate(sql, MIGRATIONS);
  });
  const begin = async (id: string, changes: Partial<NewTask>): Promise<void> => {
    const store = sqlTaskStore(sql, newIds(fakeClock(AT)), () => ({ type: 'finished', payload: '{}' }));
    await store.begin(aNewTask(id, { createdAt: AT, ...changes }));
  };
  const found = async (by: FoundBy, value: string): Promise<string[]> =>
    (await sqlSearch(sql).findWork(by, value, 20)).map(({ id }) => id);

  test('finds a task by its id, with its account, model and state', async () => {
    await begin('task_1', {});

    expect(await sqlSearch(sql).findWork('id', 'task_1', 20)).toMatchObject([
      { id: 'task_1', isJob: false, accountId: 'acme', state: TaskState.QUEUED, createdAt: timestampFromMs(AT) },
    ]);
    expect(await found('id', 'task_2')).toEqual([]);
  });

  test('finds every task of a request id that a client gave', async () => {
    await begin('task_1', { requestId: 'order-7' });
    await begin('task_2', { requestId: 'order-7' });
    await begin('task_3', { requestId: 'req_of_a_client' });
    await begin('task_4', {});

    expect(await found('request_id', 'order-7')).toEqual(['task_1', 'task_2']);
    expect(await found('request_id', 'req_of_a_client')).toEqual(['task_3']);
    expect(await found('request_id', 'order')).toEqual([]);
  });

  test('finds the task of a request id of ours by the time that the id says', async () => {
    const [requestId, other] = [firstIdAt('req', AT), firstIdAt('req', AT + 1)];
    const taskId = firstIdAt('task', AT + 1500);
    await begin(taskId, { requestId });
    await begin(firstIdAt('task', AT + 1501), { requestId: other });

    expect(await found('request_id', requestId)).toEqual([taskId]);
  });

  test('finds the task of a trace', async () => {
    await begin('task_1', { trace: `00-${TRACE}-00f067aa0ba902b7-01` });
    await begin('task_2', { trace: `00-${TRACE.replace('4', '5')}-00f067aa0ba902b7-01` });

    expect(await found('trace_id', TRACE)).toEqual(['task_1']);
    expect(await found('trace_id', TRACE.slice(1))).toEqual([]);
  });

  test('finds no more than it is asked for, and a text with a zero character finds nothing', async () => {
    for (const id of ['task_1', 'task_2', 'task_3']) await begin(id, { requestId: 'order-7' });

    expect(await sqlSearch(sql).findWork('request_id', 'order-7', 2)).toHaveLength(2);
    expect(await found('request_id', 'order-7\0')).toEqual([]);
  });
});
