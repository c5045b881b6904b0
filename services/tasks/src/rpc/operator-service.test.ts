import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import { bind } from '@reelgate/platform/rpc/service';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { TaskKind } from '@reelgate/proto/tasks/v1/order';
import { OperatorService, Resolution } from '@reelgate/proto/tasks/v1/operator_service';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { channelSettings } from '../../testing/channel-settings.ts';
import { LOST, refused } from '../../testing/fake-upstream.ts';
import { useJobWorlds } from '../../testing/jobs/open-job-world.ts';
import { useWorlds } from '../../testing/open-world.ts';
import { aContextIr } from '../../testing/orders.ts';
import { raiseAttention } from '../operations/ends/raise-attention.ts';
import { operatorService } from './operator-service.ts';

const openWorld = useWorlds();
const openJobs = useJobWorlds();
const CHANNELS = [
  channelSettings({ id: 'first', priority: 1 }),
  channelSettings({ id: 'second', weight: 2, enabled: true }),
];

async function open() {
  const world = await openWorld({ channels: CHANNELS });
  return {
    world,
    client: directClient(
      OperatorService,
      bind(OperatorService, operatorService(world.deps, (await openJobs()).deps, world.operate)),
      aCaller(),
    ),
  };
}

describe('ShowTask', () => {
  test('shows the attempts, the mapping and the history', async () => {
    const { world, client } = await open();
    world.upstream.answer('first', refused('channel'));
    const { task } = await world.create();

    const { record } = await client.showTask({ taskId: task.id });

    expect(record).toMatchObject({
      tokenId: 'token_1',
      admission: 'accepted',
      task: { id: task.id, accountId: 'acme' },
      attempts: [
        { number: 1, channel: 'first', outcome: 'refused', error: 'its channel', upstreamId: '' },
        { number: 2, channel: 'second', outcome: 'accepted', upstreamId: 'up-2', error: '' },
      ],
    });
    expect(record?.events.map(({ type }) => type)).toEqual([
      'created',
      'attempt_started',
      'attempt_refused',
      'attempt_started',
      'accepted',
    ]);
    expect(timestampMs(record!.attempts[0]!.endedAt!)).toBe(world.clock.now());
  });

  test('shows what the upstream says that it charged, if it says it', async () => {
    const { world, client } = await open();
    const cost = async (costMicroUsd?: number): Promise<bigint | undefined> => {
      const { task } = await world.create();
      await world.deps.store.finish(task.id, { state: 'failed', at: 1, upstreamCostMicroUsd: costMicroUsd });
      return (await client.showTask({ taskId: task.id })).record?.upstreamCostMicroUsd;
    };

    expect([await cost(350_000), await cost(0), await cost()]).toEqual([350_000n, 0n, undefined]);
  });

  test('shows a refused create, which no client sees', async () => {
    const { world, client } = await open();
    world.upstream.answer('first', refused('content'));
    await expect(world.create()).rejects.toMatchObject({ reason: 'content_rejected' });
    const [task] = await world.deps.store.list({ hidden: true }, { limit: 1 });

    expect((await client.showTask({ taskId: task!.id })).record).toMatchObject({
      admission: 'refused',
      task: { failure: { code: 'content_rejected' } },
    });
  });

  test('shows the found upstream id on the attempt with the lost answer', async () => {
    const { world, client } = await open();
    world.upstream.answer('first', LOST);
    const { task } = await world.create();
    await world.deps.store.adopt(task.id, 'up-found', world.clock.now());

    expect((await client.showTask({ taskId: task.id })).record?.attempts).toMatchObject([
      { outcome: 'unknown', upstreamId: 'up-found' },
    ]);
  });

  test('refuses an unknown task', async () => {
    await expect((await open()).client.showTask({ taskId: 'task_none' })).rejects.toMatchObject({ kind: 'not_found' });
  });
});

test('ListTaskRecords pages through all tasks, or those of one account or state', async () => {
  const { world, client } = await open();
  const own = (await world.create()).task.id;
  const foreign = (await world.create(undefined, { accountId: 'rival' })).task.id;
  await world.deps.store.finish(own, { state: 'failed', at: 1 });
  const ids = async (filter: object): Promise<(string | undefined)[]> =>
    (await client.listTaskRecords({ limit: 10, ...filter })).records.map(({ task }) => task?.id);

  expect(await ids({})).toEqual([foreign, own]);
  expect(await ids({ limit: 1 })).toEqual([foreign]);
  expect(await ids({ after: foreign })).toEqual([own]);
  expect(await ids({ accountId: 'rival' })).toEqual([foreign]);
  expect(await ids({ state: TaskState.FAILED })).toEqual([own]);
});

test('ListTaskRecords filters by channel, model, kind, time and upstream id, in steps too', async () => {
  const { world, client } = await open();
  world.upstream.answer('first', refused('channel'));
  const early = (await world.create()).task.id;
  const between = world.clock.now() + 500;
  await world.clock.advance(1000);
  const late = (await world.create(aContextIr())).task.id;
  world.upstream.answer('first', refused('content'));
  await expect(world.create()).rejects.toMatchObject({ reason: 'content_rejected' });

  for (const inSteps of [false, true]) {
    const ids = async (filter: object): Promise<(string | undefined)[]> =>
      (await client.listTaskRecords({ inSteps, ...filter })).records.map(({ task }) => task?.id);
    expect(await ids({ channel: 'second' })).toEqual([early]);
    expect(await ids({ channel: 'first' })).toEqual([late]);
    expect(await ids({ model: 'Other-V1' })).toEqual([]);
    expect(await ids({ kind: TaskKind.CONTEXT_IR })).toEqual([late]);
    expect(await ids({ createdBefore: timestampFromMs(between) })).toEqual([early]);
    expect(await ids({ createdFrom: timestampFromMs(between), state: TaskState.QUEUED })).toEqual([late]);
    expect(await ids({ upstreamId: 'up-2' })).toEqual([early]);
    expect(await ids({ upstreamId: 'up-none' })).toEqual([]);
    expect(await ids({})).toHaveLength(3);
  }
});

test('a record has the channel, the upstream id and the trace, and a brief one no history', async () => {
  const { world, client } = await open();
  const root = world.tracing.root('create', { class: 'create' });
  const { task } = await world.create(undefined, { span: root });
  const traceId = task.trace?.split('-')[1];

  const [full] = (await client.listTaskRecords({})).records;
  const [brief] = (await client.listTaskRecords({ brief: true })).records;

  expect(full).toMatchObject({ channel: 'first', upstreamId: 'up-1', traceId });
  expect([full?.attempts.length, full!.events.length > 0]).toEqual([1, true]);
  expect(brief).toEqual({ ...full, attempts: [], events: [] });
});

describe('attention', () => {
  test('is listed with its reason and time, and resolved as requested', async () => {
    const { world, client } = await open();
    const { task } = await world.create();
    await raiseAttention(world.deps, task, 'unknown_status', 'it says "paused"');

    const {
      items: [item],
    } = await client.listAttention({});
    expect(item).toMatchObject({
      taskId: task.id,
      reason: 'unknown_status',
      detail: 'it says "paused"',
      accountId: 'acme',
      model: 'Alpha-H3',
      channel: 'first',
      state: TaskState.QUEUED,
      isJob: false,
    });
    expect(timestampMs(item!.since!)).toBe(world.clock.now());

    const { record } = await client.resolveAttention({ taskId: task.id, resolution: Resolution.FAILED, actor: 'ann' });
    expect(record?.task?.state).toBe(TaskState.FAILED);
    expect((await client.listAttention({})).items).toEqual([]);
  });

  test('is resolved by one act, with the reason of the operator', async () => {
    const { world, client } = await open();
    const { task } = await world.create();
    await raiseAttention(world.deps, task, 'unknown_status', 'why');
    const decision = { taskId: task.id, resolution: Resolution.FAILED, actor: 'ann', reason: 'the vendor lost it' };

    const { decidedAt } = await client.resolveAttention(decision);
    await world.clock.advance(5);
    const repeated = await client.resolveAttention(decision);
    expect(repeated).toMatchObject({ decidedAt, record: { task: { id: task.id, state: TaskState.FAILED } } });

    expect((await client.listActs({ subject: task.id })).acts).toMatchObject([
      {
        action: 'attention_resolved',
        subject: task.id,
        actor: 'ann',
        reason: 'the vendor lost it',
        detailJson: '{"resolution":"failed"}',
      },
    ]);
    expect(await world.deps.store.events(task.id)).toContainEqual(
      expect.objectContaining({
        detailJson: '{"resolution":"failed","actor":"ann","reason":"the vendor lost it"}',
      }),
    );
  });

  test.each([
    ['by another person', { actor: 'bob' }],
    ['otherwise', { resolution: Resolution.COMPLETED }],
    ['for another reason', { reason: 'no' }],
  ])('is not decided again %s, who learns of the first decision', async (_how, other) => {
    const { world, client } = await open();
    const { task } = await world.create();
    await raiseAttention(world.deps, task, 'unknown_status', 'why');
    const decision = { taskId: task.id, resolution: Resolution.FAILED, actor: 'ann', reason: 'the vendor lost it' };
    await client.resolveAttention(decision);

    await expect(client.resolveAttention({ ...decision, ...other })).rejects.toMatchObject({
      ...{ kind: 'conflict', reason: 'not_in_attention' },
      message: 'ann has decided it as failed: the vendor lost it',
    });
  });

  test('that the service itself ends is no act', async () => {
    const { world, client } = await open();
    const { task } = await world.create();
    await raiseAttention(world.deps, task, 'unknown_status', 'why');

    await world.deps.store.resolve(task.id, { resolution: 'repaired', actor: 'service', at: 1 });

    expect((await client.listActs({})).acts).toEqual([]);
  });

  test.each<Resolution>([Resolution.UNSPECIFIED, 77 as never])('is not resolved with %s', async (resolution) => {
    const { client } = await open();

    await expect(client.resolveAttention({ taskId: 'task_1', resolution })).rejects.toMatchObject({
      kind: 'invalid',
      field: 'resolution',
    });
  });
});

describe('channels', () => {
  test('are listed with their condition, and without their URL or key', async () => {
    const { world, client } = await open();
    await world.create();
    for (let fault = 0; fault < 5; fault += 1) world.deps.channels.find('second')?.circuit.failed();

    const { channels } = await client.listChannels({});

    expect(channels).toMatchObject([
      {
        id: 'first',
        adapter: 'scripted',
        upstreamAccount: 'vendor',
        enabled: true,
        circuit: 'closed',
        inFlight: 1,
        inFlightLimit: 30,
        requestsPerMinute: 300,
        priority: 1,
        weight: 1,
        models: ['Alpha-H3'],
      },
      { id: 'second', circuit: 'open', inFlight: 0, weight: 2 },
    ]);
    expect(JSON.stringify(channels)).not.toMatch(/upstream-key|127\.0\.0\.1/);
  });

  test('are tested one at a time', async () => {
    const { client } = await open();

    expect(await client.testChannel({ id: 'first' })).toMatchObject({ ok: true, detail: 'the list was read' });
    expect((await client.listActs({})).acts).toEqual([]);
    await client.testChannel({ id: 'first', actor: 'ann' });
    expect((await client.listActs({})).acts).toMatchObject([
      { action: 'channel_tested', subject: 'first', actor: 'ann', detailJson: '{"ok":true,"tookMs":0}' },
    ]);
    await expect(client.testChannel({ id: 'none' })).rejects.toMatchObject({
      kind: 'not_found',
      reason: 'channel_not_found',
    });
  });
});

describe('a pause', () => {
  test('is shown with its channel, and to those that send work to channels', async () => {
    const { world, client } = await open();
    const pause = { channel: 'first', actor: 'ann', reason: 'it loses results' };

    expect(await client.pauseChannel({ id: 'first', actor: 'ann', reason: 'it loses results' })).toMatchObject({
      pause,
    });
    await client.pauseChannel({ id: 'relay', reason: 'slow' });

    expect((await client.listChannels({})).channels).toMatchObject([{ id: 'first', pause }, { id: 'second' }]);
    expect((await client.listChannelPauses({})).pauses).toMatchObject([
      pause,
      { channel: 'relay', actor: aCaller().name },
    ]);
    expect(world.counted).toEqual(['announce pause first', 'announce pause relay']);

    expect(await client.resumeChannel({ id: 'first' })).toMatchObject({ wasPaused: true });
    expect((await client.listChannels({})).channels.map(({ pause: left }) => left)).toEqual([undefined, undefined]);
  });

  test('needs a reason', async () => {
    const { client } = await open();

    await expect(client.pauseChannel({ id: 'first' })).rejects.toMatchObject({ kind: 'invalid', field: 'reason' });
  });
});

test('CountAttention counts what waits for a decision', async () => {
  const { world, client } = await open();
  const before = await client.countAttention({});
  const { task } = await world.create();
  await raiseAttention(world.deps, task, 'unknown_status', 'why');

  expect([before.waiting, (await client.countAttention({})).waiting]).toEqual([0n, 1n]);
});

test('GetActivity says what waits now', async () => {
  const { world, client } = await open();
  const { task } = await world.create();
  await raiseAttention(world.deps, task, 'unknown_status', 'why');
  const ended = (await world.create()).task;
  await world.deps.store.finish(ended.id, { state: 'completed', at: world.clock.now() });
  const at = world.clock.now();
  await world.clock.advance(60_000);

  const activity = await client.getActivity({});

  expect(activity).toMatchObject({ unfinished: 1, unsettled: 1, unsettledMs: 60_000n, attention: 1, minutes: [] });
  expect([timestampMs(activity.now!), timestampMs(activity.attentionSince!)]).toEqual([at + 60_000, at]);
  expect(activity.pollLagMs).toBe(BigInt(at + 60_000 - task.nextPollAt!));
});

test('ClassifyHolds accepts a thousand ids, and refuses more', async () => {
  const { client } = await open();
  const taskIds = Array.from({ length: 1001 }, (_, index) => `task_none_${index}`);

  expect(await client.classifyHolds({ taskIds: taskIds.slice(1) })).toMatchObject({
    finished: [],
    unknown: taskIds.slice(1),
  });
  await expect(client.classifyHolds({ taskIds })).rejects.toMatchObject({ kind: 'invalid', field: 'task_ids' });
});

describe.each(['listTaskRecords', 'listJobRecords'] as const)('%s', (method) => {
  test.each([
    ['a negative limit', 'limit', { limit: -1 }],
    ['a limit above the maximum', 'limit', { limit: 1001 }],
    ['an unknown state', 'state', { state: 77 as never }],
    ['an unknown position', 'after', { after: 'task_none' }],
  ])('refuses %s and names the field %s', async (_what, field, request) => {
    const { client } = await open();

    await expect(client[method](request)).rejects.toMatchObject({ kind: 'invalid', reason: 'invalid_request', field });
  });

  test('returns a page of every state when no limit is set', async () => {
    const { client } = await open();

    expect((await client[method]({})).records).toEqual([]);
  });
});

test('ClassifyHolds lists ended tasks and tasks that do not exist, and leaves out unfinished tasks', async () => {
  const { world, client } = await open();
  const alive = (await world.create()).task.id;
  const ended = (await world.create()).task.id;
  await world.deps.store.finish(ended, { state: 'completed', at: 1 });
  world.upstream.answer('first', LOST, refused('content'));
  const unknown = (await world.create()).task.id;
  await expect(world.create()).rejects.toMatchObject({ reason: 'content_rejected' });
  const refusedId = (await world.deps.store.list({ hidden: true }, { limit: 1 }))[0]!.id;

  expect(await client.classifyHolds({ taskIds: [alive, ended, unknown, refusedId, 'task_none'] })).toMatchObject({
    finished: [ended],
    unknown: [refusedId, 'task_none'],
  });
});
