import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { partialService } from '@reelgate/platform/testing/partial-service';
import { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import type { ListTaskRecordsRequest } from '@reelgate/proto/tasks/v1/operator_service';
import { TaskKind } from '@reelgate/proto/tasks/v1/order';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { TaskService, WatchTasksRequestSchema } from '@reelgate/proto/tasks/v1/task_service';
import type { ListTasksRequest, WatchTasksRequest } from '@reelgate/proto/tasks/v1/task_service';
import { useWorlds } from '../../testing/open-world.ts';
import { FILTERED, writeFiltered } from '../../testing/store/filters-conformance.ts';
import type { FilterMember } from '../../testing/store/filters-conformance.ts';
import { accepted } from '../../testing/store/opened-store.ts';
import { operateTasks } from './operate-work.ts';
import { readMethods } from './task-read-methods.ts';
import { readTaskFilter } from './request-fields.ts';

const open = useWorlds();

/** Every field of a request that narrows its list: one that is missing in a table does not compile. */
type Narrowing<R, Other extends keyof R> = Readonly<
  Record<
    Exclude<keyof R, Other | '$typeName' | '$unknown'>,
    readonly [member: FilterMember, fields: Partial<Omit<R, '$typeName' | '$unknown'>>]
  >
>;

const at = (ms: number | undefined) => timestampFromMs(ms ?? 0);
const CREATED_FROM = { createdFrom: at(FILTERED.createdFrom.wanted) };
const CREATED_BEFORE = { createdBefore: at(FILTERED.createdBefore.wanted) };

const OF_OWNERS: Narrowing<
  ListTasksRequest,
  | 'limit'
  | 'after'
  | 'ascending'
  | 'offset'
  | 'withTotal'
  | 'inSteps'
  | 'idempotencyKey'
  | 'countMax'
  | keyof typeof IN_STEPS
> = {
  accountId: ['accountId', {}],
  states: ['states', { states: [TaskState.COMPLETED] }],
  taskIds: ['taskIds', { taskIds: ['task_1'] }],
  model: ['model', { model: 'Other-V1' }],
  kind: ['kind', { kind: TaskKind.CONTEXT_IR }],
  createdFrom: ['createdFrom', CREATED_FROM],
  createdBefore: ['createdBefore', CREATED_BEFORE],
  label: ['label', { label: 'spring' }],
};

const OF_OPERATORS: Narrowing<
  ListTaskRecordsRequest,
  'limit' | 'after' | 'brief' | 'inSteps' | 'countMax' | keyof typeof IN_STEPS
> = {
  accountId: ['accountId', { accountId: 'acme' }],
  state: ['states', { state: TaskState.COMPLETED }],
  model: ['model', { model: 'Other-V1' }],
  kind: ['kind', { kind: TaskKind.CONTEXT_IR }],
  channel: ['channel', { channel: 'second' }],
  createdFrom: ['createdFrom', CREATED_FROM],
  createdBefore: ['createdBefore', CREATED_BEFORE],
  upstreamId: ['upstream', { upstreamId: 'up-task_1' }],
};

/** Lists in steps alone answer these within a bound. */
const IN_STEPS = {
  words: ['prompt', { words: 'Red, kit' }],
  tokenId: ['tokenId', { tokenId: 'token_2' }],
} as const;

const OF_WATCHES: Narrowing<WatchTasksRequest, 'cursor'> = {
  accountId: ['accountId', { accountId: 'acme' }],
  states: ['states', { states: [TaskState.COMPLETED] }],
  model: ['model', { model: 'Other-V1' }],
  kind: ['kind', { kind: TaskKind.CONTEXT_IR }],
};

describe.each([false, true])('with steps: %s', (inSteps) => {
  test.each(Object.entries(OF_OWNERS))("%s narrows an owner's list", async (_field, [member, fields]) => {
    const { deps } = await open();
    const client = directClient(TaskService, partialService(TaskService, readMethods(deps)), aCaller());
    const [matching] = await writeFiltered(deps.store, member);

    const { tasks } = await client.listTasks({ accountId: 'acme', inSteps, ...fields });

    expect(tasks.map(({ id }) => id)).toEqual([matching]);
  });

  test.each(Object.entries(OF_OPERATORS))("%s narrows an operator's list", async (_field, [member, fields]) => {
    const { deps } = await open();
    const client = directClient(OperatorService, partialService(OperatorService, operateTasks(deps)), aCaller());
    const [matching] = await writeFiltered(deps.store, member);

    const { records } = await client.listTaskRecords({ brief: true, inSteps, ...fields });

    expect(records.map(({ task }) => task?.id)).toEqual([matching]);
  });
});

describe.each(Object.entries(IN_STEPS))('%s', (_field, [member, fields]) => {
  test("narrows an owner's list in steps, with its count", async () => {
    const { deps } = await open();
    const client = directClient(TaskService, partialService(TaskService, readMethods(deps)), aCaller());
    const [matching] = await writeFiltered(deps.store, member);

    const answer = await client.listTasks({ accountId: 'acme', inSteps: true, countMax: 9, ...fields });

    expect(answer.tasks.map(({ id }) => id)).toEqual([matching]);
    expect(answer).toMatchObject({ counted: 1, countedAll: true });
  });

  test.each(['acme', ''])("narrows an operator's list in steps of the account '%s'", async (accountId) => {
    const { deps } = await open();
    const client = directClient(OperatorService, partialService(OperatorService, operateTasks(deps)), aCaller());
    const [matching] = await writeFiltered(deps.store, member);

    const answer = await client.listTaskRecords({ accountId, brief: true, inSteps: true, countMax: 9, ...fields });

    expect(answer.records.map(({ task }) => task?.id)).toEqual([matching]);
    expect(answer).toMatchObject({ counted: 1, countedAll: true });
  });

  test('is refused for a whole list', async () => {
    const { deps } = await open();
    const client = directClient(TaskService, partialService(TaskService, readMethods(deps)), aCaller());

    await expect(client.listTasks({ accountId: 'acme', ...fields })).rejects.toMatchObject({ field: 'in_steps' });
  });
});

test('words of which none can be searched for find no task', async () => {
  const { deps } = await open();
  const client = directClient(TaskService, partialService(TaskService, readMethods(deps)), aCaller());
  await accepted(deps.store, 'task_1');

  const answer = await client.listTasks({ accountId: 'acme', inSteps: true, countMax: 9, words: 'the … a' });

  expect(answer).toMatchObject({ tasks: [], counted: 0, countedAll: true });
});

test('an idempotency key narrows the list of its owner', async () => {
  const { deps } = await open();
  const client = directClient(TaskService, partialService(TaskService, readMethods(deps)), aCaller());
  const expiresAt = deps.clock.now() + 1000;
  await accepted(deps.store, 'task_1', { idempotency: { key: 'key_1', fingerprint: 'f', expiresAt } });
  await accepted(deps.store, 'task_2');

  const { tasks } = await client.listTasks({ accountId: 'acme', idempotencyKey: 'key_1' });

  expect(tasks.map(({ id }) => id)).toEqual(['task_1']);
});

test.each(Object.entries(OF_WATCHES))('%s narrows a watch', (_field, [member, fields]) => {
  expect(readTaskFilter(create(WatchTasksRequestSchema, fields))).toMatchObject({ [member]: FILTERED[member].wanted });
});
