import { create, toBinary } from '@bufbuild/protobuf';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { partialService } from '@reelgate/platform/testing/partial-service';
import { readFields, catchRefusal } from '@reelgate/platform/testing/refusals';
import { MediaKind, TaskKind } from '@reelgate/proto/tasks/v1/order';
import { TaskSchema, TaskState } from '@reelgate/proto/tasks/v1/task';
import { CheckOrderRequestSchema, CreateTaskRequestSchema, TaskService } from '@reelgate/proto/tasks/v1/task_service';
import type { CreateTaskRequest } from '@reelgate/proto/tasks/v1/task_service';
import { LOST, succeeded } from '../../testing/fake-upstream.ts';
import { useWorlds } from '../../testing/open-world.ts';
import type { World } from '../../testing/open-world.ts';
import { someTokens } from '../../testing/tokens.ts';
import { aContextIr, anImage, anOrder, aText } from '../../testing/orders.ts';
import type { Order } from '../domain/order.ts';
import type { Report } from '../domain/report.ts';
import { applyReport } from '../operations/polls/apply-report.ts';
import { toWireOrder } from '../operations/reads/work-messages.ts';
import { taskService } from './task-service.ts';

const TOKENS = {
  token_for_one: { inFlight: 1 },
  token_for_many: { inFlight: 100 },
  token_for_others: { models: ['Other-V1'] },
  token_of_rival: { accountId: 'rival' },
};
const REJECTED = { code: 'content_rejected', message: 'the upstream failed it' };
const openWorld = useWorlds();

type TheClient = Awaited<ReturnType<typeof open>>['client'];

async function open() {
  const world = await openWorld();
  return {
    world,
    client: directClient(
      TaskService,
      partialService(TaskService, taskService(world.deps, someTokens(TOKENS))),
      aCaller(),
    ),
  };
}

function aRequest(
  changes: { readonly order?: Order } & Partial<Omit<CreateTaskRequest, 'order' | '$typeName'>> = {},
): CreateTaskRequest {
  const { order = anOrder(), ...rest } = changes;
  return create(CreateTaskRequestSchema, { accountId: 'acme', tokenId: 'token_1', order: toWireOrder(order), ...rest });
}

const aCheck = ({ idempotencyKey = '', requestFingerprint = '' } = {}) =>
  create(CheckOrderRequestSchema, {
    accountId: 'acme',
    tokenId: 'token_1',
    order: toWireOrder(anOrder()),
    idempotencyKey,
    requestFingerprint,
  });

const TEXT = { item: { case: 'text', value: 'a fox' } };
const aMedium = (value: object) => ({ item: { case: 'media', value } });
const inOrder = (...items: readonly object[]) => ({ kind: TaskKind.GENERATION, content: [TEXT, ...items] });

async function complete(world: World, taskId: string): Promise<void> {
  const polled = succeeded();
  if (polled.found) await applyReport(world.deps, (await world.deps.store.find(taskId))!, polled.report);
}

test('a read is a trace of its own, linked to the span of the task', async () => {
  const { world, client } = await open();
  const root = world.tracing.root('create', { class: 'create' });
  const { task } = await client.createTask(aRequest(), { span: root });
  const trace = (await world.deps.store.find(task!.id))?.trace;
  const read = world.tracing.root('read', { class: 'read' });

  await client.getTask({ accountId: 'acme', taskId: task!.id }, { span: read });

  expect(trace).toBeDefined();
  expect(world.tracing.named('reelgate.tasks.v1.TaskService/GetTask')).toMatchObject([
    { parent: read.carrier, links: [trace] },
  ]);
});

describe('CreateTask', () => {
  test('returns the task as it was created, with its order as it was sent', async () => {
    const { world, client } = await open();
    const order = anOrder({
      content: [aText('a fox'), anImage('first_frame')],
      ratio: 'adaptive',
      size: '1344x768',
      extraJson: '{"seed":7}',
    });

    const { task, replayed } = await client.createTask(aRequest({ order }));

    expect(task).toMatchObject({
      accountId: 'acme',
      state: TaskState.QUEUED,
      progress: 0,
      seconds: 5,
      order: toWireOrder(order),
    });
    expect(timestampMs(task!.createdAt!)).toBe(world.clock.now());
    expect(replayed).toBe(false);
  });

  test('returns the same bytes for a repeated call', async () => {
    const { world, client } = await open();
    const request = aRequest({ idempotencyKey: 'k', requestFingerprint: 'f' });
    const first = await client.createTask(request);
    await complete(world, first.task!.id);
    await world.clock.advance(3_600_000);

    const again = await client.createTask(request);

    expect(again.replayed).toBe(true);
    expect(toBinary(TaskSchema, again.task!)).toEqual(toBinary(TaskSchema, first.task!));
  });

  test('with a key and no fingerprint returns the task for the same order, and refuses another', async () => {
    const { world, client } = await open();
    const first = await client.createTask(
      aRequest({ idempotencyKey: 'k', order: anOrder({ extraJson: '{"seed":7,"style":"x"}' }) }),
    );

    const again = await client.createTask(
      aRequest({ idempotencyKey: 'k', order: anOrder({ extraJson: '{"style":"x", "seed":7}' }) }),
    );
    expect([again.replayed, again.task?.id]).toEqual([true, first.task?.id]);

    await expect(
      client.createTask(aRequest({ idempotencyKey: 'k', order: anOrder({ extraJson: '{"seed":8,"style":"x"}' }) })),
    ).rejects.toMatchObject({ kind: 'unprocessable', reason: 'idempotency_key_reused' });
    await expect(client.createTask(aRequest({ idempotencyKey: 'k', order: aContextIr() }))).rejects.toMatchObject({
      reason: 'idempotency_key_reused',
    });
    expect([
      await world.deps.store.count({ hidden: true }),
      world.billing.holds.size,
      world.upstream.submitted.length,
    ]).toEqual([1, 1, 1]);
  });

  test.each([
    ['a fingerprint', 'f', ''],
    ['none', '', 'f'],
  ])('with a key that was used with %s refuses the other comparison', async (_what, first, second) => {
    const { client } = await open();
    await client.createTask(aRequest({ idempotencyKey: 'k', requestFingerprint: first }));

    await expect(
      client.createTask(aRequest({ idempotencyKey: 'k', requestFingerprint: second })),
    ).rejects.toMatchObject({ reason: 'idempotency_key_reused' });
  });

  test('with a fingerprint compares it alone', async () => {
    const { client } = await open();
    const inline = (object: string) =>
      anOrder({ content: [aText('a fox'), { media: 'image', role: 'first_frame', object }] });
    const first = await client.createTask(
      aRequest({ idempotencyKey: 'k', requestFingerprint: 'f', order: inline('obj_1') }),
    );

    const again = await client.createTask(
      aRequest({ idempotencyKey: 'k', requestFingerprint: 'f', order: inline('obj_2') }),
    );

    expect([again.replayed, again.task?.id]).toEqual([true, first.task?.id]);
  });

  test("returns a task like any other when the upstream's answer is lost", async () => {
    const { world, client } = await open();
    world.upstream.answer('main', LOST);

    const { task } = await client.createTask(aRequest());

    expect(task).toMatchObject({ state: TaskState.QUEUED, unrecognisedStatus: '' });
  });

  test('refuses with the problem of the operation', async () => {
    const { client } = await open();

    await expect(client.createTask(aRequest({ order: anOrder({ duration: 99 }) }))).rejects.toMatchObject({
      kind: 'invalid',
      reason: 'invalid_duration',
      field: 'order.duration',
    });
  });

  test.each<[string, object, string, string]>([
    ['no account', { accountId: '' }, 'account_id', 'invalid_request'],
    ['no token', { tokenId: '' }, 'token_id', 'invalid_request'],
    ['no order', { order: undefined }, 'order', 'invalid_request'],
    ['an order without a kind', { order: {} }, 'order.kind', 'invalid_request'],
    ['an order of an unknown kind', { order: { kind: 77 } }, 'order.kind', 'invalid_request'],
    ['an empty item', { order: inOrder({}) }, 'order.content[1].item', 'invalid_content'],
    ['a media item without a kind', { order: inOrder(aMedium({})) }, 'order.content[1].media.kind', 'invalid_content'],
    [
      'a media item of an unknown kind',
      { order: inOrder(aMedium({ kind: 77 })) },
      'order.content[1].media.kind',
      'invalid_content',
    ],
    [
      'a media item in an unknown role',
      { order: inOrder(aMedium({ kind: MediaKind.IMAGE, role: 77 })) },
      'order.content[1].media.role',
      'invalid_request',
    ],
    ['more than a hundred items', { order: inOrder(...Array(100).fill(TEXT)) }, 'order.content', 'invalid_content'],
    ['a key with a blank', { idempotencyKey: 'a key' }, 'idempotency_key', 'invalid_idempotency_key'],
    ['a key that is too long', { idempotencyKey: 'k'.repeat(256) }, 'idempotency_key', 'invalid_idempotency_key'],
  ])('with %s is refused, and nothing is written', async (_what, changes, field, reason) => {
    const { client, world } = await open();
    const request = { accountId: 'acme', tokenId: 'token_1', order: toWireOrder(anOrder()), ...changes };

    await expect(client.createTask(request)).rejects.toMatchObject({ kind: 'invalid', reason, field });
    expect(world.journal.names()).toEqual([]);
  });

  test("uses the token's own limit if it has one, and the configured limit otherwise", async () => {
    const { client } = await open();
    await client.createTask(aRequest({ tokenId: 'token_for_one' }));

    await expect(client.createTask(aRequest({ tokenId: 'token_for_one' }))).rejects.toMatchObject({
      reason: 'too_many_tasks',
    });
    await client.createTask(aRequest());
  });
});

describe('the label of a token', () => {
  const labelled = async () => {
    const { deps, billing } = await openWorld();
    const service = taskService(deps, someTokens({ token_1: { label: 'of-token' } }));
    return { billing, client: directClient(TaskService, partialService(TaskService, service), aCaller()) };
  };

  test.each([
    ['', 'of-token'],
    ['of-create', 'of-create'],
  ])('a create with the label %j has the label %s, and so has its hold', async (label, expected) => {
    const { client, billing } = await labelled();
    const { task } = await client.createTask(aRequest({ label }));

    expect(task?.label).toBe(expected);
    expect(billing.holds.get(task?.id ?? '')?.label).toBe(expected);
  });
});

describe('the models that a token may use', () => {
  test.each([
    ['CreateTask', (client: TheClient, changes: object) => client.createTask({ ...aRequest(), ...changes })],
    ['CheckOrder', (client: TheClient, changes: object) => client.checkOrder({ ...aCheck(), ...changes })],
    [
      'EstimateOrder',
      (client: TheClient, changes: object) =>
        client.estimateOrder({ accountId: 'acme', tokenId: 'token_1', order: toWireOrder(anOrder()), ...changes }),
    ],
  ])('are read by %s from the token', async (_name, call) => {
    const { client } = await open();

    await expect(call(client, { tokenId: 'token_for_others' })).rejects.toMatchObject({
      kind: 'not_found',
      reason: 'model_not_found',
    });
    await expect(call(client, { tokenId: 'token_of_rival' })).rejects.toMatchObject({
      kind: 'not_found',
      reason: 'token_not_found',
      field: 'token_id',
    });
  });
});

describe('CheckOrder', () => {
  test('checks an order, and changes nothing', async () => {
    const { world, client } = await open();
    const caller = { accountId: 'acme' };

    await client.checkOrder({ ...caller, order: toWireOrder(anOrder()) });
    await expect(
      client.checkOrder({ ...caller, order: toWireOrder(anOrder({ resolution: '8K' })) }),
    ).rejects.toMatchObject({ reason: 'invalid_resolution' });

    expect(world.journal.names()).toEqual([]);
  });
});

describe('CheckOrder with a token', () => {
  test('refuses what CreateTask would refuse now, and writes nothing', async () => {
    const { world, client } = await open();
    world.billing.funded = false;

    await expect(client.checkOrder(aCheck())).rejects.toMatchObject({ reason: 'insufficient_quota' });
    expect(world.journal.names().filter((name) => name !== 'store.inFlight')).toEqual(['billing.checkHold']);
  });

  test('returns the task that CreateTask would return again', async () => {
    const { client } = await open();
    const keyed = { idempotencyKey: 'k', requestFingerprint: 'f' };
    expect((await client.checkOrder(aCheck(keyed))).task).toBeUndefined();
    const { task } = await client.createTask(aRequest(keyed));

    expect(toBinary(TaskSchema, (await client.checkOrder(aCheck(keyed))).task!)).toEqual(toBinary(TaskSchema, task!));
    await expect(client.checkOrder(aCheck({ ...keyed, requestFingerprint: 'other' }))).rejects.toMatchObject({
      reason: 'idempotency_key_reused',
    });
  });
});

test('EstimateOrder returns the quote with its facts', async () => {
  const { client } = await open();

  expect(
    await client.estimateOrder({ accountId: 'acme', tokenId: 'token_1', order: toWireOrder(anOrder({ duration: 7 })) }),
  ).toMatchObject({
    amountNanos: 560_000_000n,
    currency: 'USD',
    contract: 'Alpha-H3',
    version: 1,
    facts: { seconds: 7n, input_video_seconds: 0n, images: 0n },
  });
});

describe('GetTask', () => {
  test('shows the end of a task with its result and expiry', async () => {
    const { world, client } = await open();
    const { id } = (await client.createTask(aRequest())).task!;
    await complete(world, id);

    const { task } = await client.getTask({ accountId: 'acme', taskId: id });

    expect(task).toMatchObject({
      state: TaskState.COMPLETED,
      progress: 100,
      result: { object: `res-${id}`, width: 1344, height: 768, durationMs: 5167n, bytes: 1000n },
    });
    expect(timestampMs(task!.completedAt!)).toBe(world.clock.now());
    expect(task!.expiresAt).toBeDefined();
  });

  test('shows the enhanced prompt of context-IR, and no object', async () => {
    const { world, client } = await open();
    const { id } = (await client.createTask(aRequest({ order: aContextIr() }))).task!;
    await applyReport(world.deps, (await world.deps.store.find(id))!, {
      phase: 'succeeded',
      status: 'succeeded',
      prompt: 'a better prompt',
    });

    expect((await client.getTask({ accountId: 'acme', taskId: id })).task).toMatchObject({
      state: TaskState.COMPLETED,
      result: { prompt: 'a better prompt', object: '' },
    });
  });

  test('shows an unknown status unchanged', async () => {
    const { world, client } = await open();
    const { id } = (await client.createTask(aRequest())).task!;
    await applyReport(world.deps, (await world.deps.store.find(id))!, { phase: 'unrecognised', status: 'paused' });

    expect((await client.getTask({ accountId: 'acme', taskId: id })).task).toMatchObject({
      state: TaskState.QUEUED,
      unrecognisedStatus: 'paused',
    });
  });

  test('is not found for another account', async () => {
    const { client } = await open();
    const { id } = (await client.createTask(aRequest())).task!;

    await expect(client.getTask({ accountId: 'rival', taskId: id })).rejects.toMatchObject({
      reason: 'task_not_found',
    });
  });
});

describe('ListTasks', () => {
  test('returns pages of the account, newest first, and the total on request', async () => {
    const { client } = await open();
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) ids.unshift((await client.createTask(aRequest())).task!.id);
    await client.createTask(aRequest({ accountId: 'rival' }));

    const page = await client.listTasks({ accountId: 'acme', limit: 2, withTotal: true });
    expect([page.tasks.map(({ id }) => id), page.hasMore, page.total]).toEqual([ids.slice(0, 2), true, 3n]);

    const next = await client.listTasks({ accountId: 'acme', limit: 2, after: ids[1]! });
    expect([next.tasks.map(({ id }) => id), next.hasMore, next.total]).toEqual([ids.slice(2), false, 0n]);

    const oldest = await client.listTasks({ accountId: 'acme', limit: 1, ascending: true, offset: 1 });
    expect(oldest.tasks.map(({ id }) => id)).toEqual([ids[1]]);
  });

  test('filters by state, kind, model and ids', async () => {
    const { world, client } = await open();
    const video = (await client.createTask(aRequest())).task!.id;
    const prompt = (await client.createTask(aRequest({ order: aContextIr() }))).task!.id;
    await complete(world, video);
    const list = async (filter: object): Promise<string[]> =>
      (await client.listTasks({ accountId: 'acme', limit: 10, ...filter })).tasks.map(({ id }) => id);

    expect(await list({ states: [TaskState.COMPLETED] })).toEqual([video]);
    expect(await list({ kind: TaskKind.CONTEXT_IR })).toEqual([prompt]);
    expect(await list({ model: 'Other-V1' })).toEqual([]);
    expect(await list({ taskIds: [video, 'task_none'] })).toEqual([video]);
    expect(await list({})).toEqual([prompt, video]);
  });

  test('without a limit returns twenty', async () => {
    const { client } = await open();
    for (let count = 0; count < 21; count += 1) await client.createTask(aRequest({ tokenId: 'token_for_many' }));

    for (const request of [{}, { limit: 0 }]) {
      const { tasks, hasMore } = await client.listTasks({ accountId: 'acme', ...request });
      expect([tasks.length, hasMore]).toEqual([20, true]);
    }
    expect((await client.listTasks({ accountId: 'acme', limit: 100 })).tasks).toHaveLength(21);
  });

  test.each<[string, string, object]>([
    ['a negative limit', 'limit', { limit: -5 }],
    ['a limit beyond the most', 'limit', { limit: 101 }],
    ['a negative offset', 'offset', { offset: -1 }],
    ['an offset above the maximum', 'offset', { offset: 100_001 }],
    ['a missing account', 'account_id', { accountId: '' }],
    ['an unspecified state', 'states[1]', { states: [TaskState.QUEUED, TaskState.UNSPECIFIED] }],
    ['a state of no name', 'states[0]', { states: [77] }],
    ['an unknown kind', 'kind', { kind: 77 }],
    ['too many ids', 'task_ids', { taskIds: Array.from({ length: 101 }, (_, index) => `task_${index}`) }],
    ['an unknown position', 'after', { after: 'task_06byh4ptrbv0000000000000000' }],
    ['a position that is not an id', 'after', { after: 'first' }],
    ['a position that is not valid text', 'after', { after: '\0' }],
  ])('refuses %s by the name of its field, %s', async (_what, field, request) => {
    const { client } = await open();
    await client.createTask(aRequest());

    await expect(client.listTasks({ accountId: 'acme', limit: 10, ...request })).rejects.toMatchObject({
      kind: 'invalid',
      reason: 'invalid_request',
      field,
    });
  });

  test('refuses a position of another account like an unknown one', async () => {
    const { client } = await open();
    const rivals = (await client.createTask(aRequest({ accountId: 'rival' }))).task!.id;

    const [other, unknown] = await Promise.all(
      [rivals, 'task_none'].map(async (after) =>
        readFields(await catchRefusal(client.listTasks({ accountId: 'acme', after }))),
      ),
    );
    expect(other).toEqual(unknown);
    expect(other).toMatchObject({ field: 'after' });
  });

  test('continues after a task that was removed', async () => {
    const { world, client } = await open();
    const ids: string[] = [];
    for (let count = 0; count < 4; count += 1) ids.unshift((await client.createTask(aRequest())).task!.id);
    const first = await client.listTasks({ accountId: 'acme', limit: 2 });
    const last = first.tasks.at(-1)!.id;
    await complete(world, last);
    await client.deleteTask({ accountId: 'acme', taskId: last });

    const next = await client.listTasks({ accountId: 'acme', limit: 2, after: last });

    expect([...first.tasks, ...next.tasks].map(({ id }) => id)).toEqual(ids);
  });
});

test('CancelTask returns the ended task, and DeleteTask the time of the removal', async () => {
  const { world, client } = await open();
  const { id } = (await client.createTask(aRequest())).task!;
  world.upstream.pollResults.set('up-1', { found: true, report: { phase: 'queued', status: 'queued' } });

  expect((await client.cancelTask({ accountId: 'acme', taskId: id })).task).toMatchObject({
    state: TaskState.FAILED,
    failure: { code: 'cancelled' },
  });
  expect(timestampMs((await client.deleteTask({ accountId: 'acme', taskId: id })).deletedAt!)).toBe(world.clock.now());
  await expect(client.getTask({ accountId: 'acme', taskId: id })).rejects.toMatchObject({ reason: 'task_not_found' });
});

test('no answer to a client says what the upstream charged', async () => {
  const { world, client } = await open();
  const { id: taskId } = (await client.createTask(aRequest())).task!;
  const charged: Report = { phase: 'failed', status: 'moderated', failure: REJECTED, costMicroUsd: 987_654_321 };
  await applyReport(world.deps, (await world.deps.store.find(taskId))!, charged);
  expect((await world.deps.store.find(taskId))?.upstreamCostMicroUsd).toBe(987_654_321);

  const asked = { accountId: 'acme', taskId };
  const answers = [
    await client.getTask(asked),
    await client.getTaskTimeline(asked),
    await client.listTasks({ accountId: 'acme' }),
  ];

  for (const answer of answers) {
    const text = JSON.stringify(answer, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
    expect(text).toContain('seconds');
    expect(text).not.toMatch(/98765|cost|micro/i);
  }
});
