import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { partialService } from '@reelgate/platform/testing/partial-service';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { TaskService } from '@reelgate/proto/tasks/v1/task_service';
import { TimelineStep } from '@reelgate/proto/tasks/v1/timeline';
import { succeeded } from '../../testing/fake-upstream.ts';
import { useWorlds } from '../../testing/open-world.ts';
import { applyReport } from '../operations/polls/apply-report.ts';
import { readMethods } from './task-read-methods.ts';

const openWorld = useWorlds();

async function open() {
  const world = await openWorld();
  const client = directClient(TaskService, partialService(TaskService, readMethods(world.deps)), aCaller());
  return { world, client };
}

describe('GetTaskTimeline', () => {
  test('returns the steps, the token, the request and the time, and nothing of the upstream', async () => {
    const { world, client } = await open();
    const { task } = await world.create(undefined, { requestId: 'req_1' });
    await world.clock.advance(1000);
    const polled = succeeded();
    if (polled.found) await applyReport(world.deps, (await world.deps.store.find(task.id))!, polled.report);
    await world.clock.advance(1000);

    const timeline = await client.getTaskTimeline({ accountId: 'acme', taskId: task.id });

    const created = task.createdAt;
    expect(
      timeline.entries.map(({ step, from, to }) => [step, timestampMs(from!) - created, timestampMs(to!) - created]),
    ).toEqual([
      [TimelineStep.CREATED, 0, 0],
      [TimelineStep.SUBMITTED, 0, 0],
      [TimelineStep.IN_PROGRESS, 0, 1000],
      [TimelineStep.FETCHED, 1000, 1000],
      [TimelineStep.COMPLETED, 1000, 1000],
    ]);
    expect(timeline).toMatchObject({ tokenId: 'token_1', requestId: 'req_1' });
    expect(timestampMs(timeline.now!)).toBe(world.clock.now());
    expect(
      JSON.stringify(timeline, (_key, value: unknown) => (typeof value === 'bigint' ? Number(value) : value)),
    ).not.toMatch(/"main"|up-|vendor/);
  });

  test('refuses a task of another account like an unknown one', async () => {
    const { world, client } = await open();
    const { task } = await world.create();

    for (const request of [
      { accountId: 'rival', taskId: task.id },
      { accountId: 'acme', taskId: 'task_none' },
    ])
      await expect(client.getTaskTimeline(request)).rejects.toMatchObject({
        kind: 'not_found',
        reason: 'task_not_found',
      });
  });
});

describe('ListTasks', () => {
  test('filters by the time of creation, from a time on and before a time', async () => {
    const { world, client } = await open();
    const ids: string[] = [];
    const times: number[] = [];
    for (let count = 0; count < 3; count += 1) {
      times.push(world.clock.now());
      ids.push((await world.create()).task.id);
      await world.clock.advance(1000);
    }
    const [createdFrom, createdBefore] = [timestampFromMs(times[1]!), timestampFromMs(times[2]!)];

    for (const inSteps of [false, true]) {
      const list = async (filter: object): Promise<string[]> =>
        (await client.listTasks({ accountId: 'acme', ascending: true, inSteps, ...filter })).tasks.map(({ id }) => id);
      expect(await list({ createdFrom })).toEqual(ids.slice(1));
      expect(await list({ createdBefore })).toEqual(ids.slice(0, 2));
      expect(await list({ createdFrom, createdBefore })).toEqual([ids[1]]);
    }
    expect((await client.listTasks({ accountId: 'acme', createdFrom, withTotal: true })).total).toBe(2n);
  });

  test('finds the task of an idempotency key of the account, while the key is kept', async () => {
    const { world, client } = await open();
    await world.create();
    const { task } = await world.create(undefined, { idempotency: { key: 'k', fingerprint: 'f' } });
    const list = async (filter: object): Promise<string[]> =>
      (await client.listTasks({ accountId: 'acme', idempotencyKey: 'k', ...filter })).tasks.map(({ id }) => id);

    for (const inSteps of [false, true]) {
      expect(await list({ inSteps })).toEqual([task.id]);
      expect(await list({ inSteps, taskIds: [task.id, 'task_none'] })).toEqual([task.id]);
      expect(await list({ inSteps, taskIds: ['task_none'] })).toEqual([]);
      expect(await list({ inSteps, states: [TaskState.FAILED] })).toEqual([]);
      expect(await list({ inSteps, accountId: 'rival' })).toEqual([]);
      expect(await list({ inSteps, idempotencyKey: '\0' })).toEqual([]);
    }
    await world.clock.advance(24 * 3_600_000);
    expect(await list({})).toEqual([]);
  });

  test('in steps says where the next page begins, until none follows', async () => {
    const { world, client } = await open();
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) ids.unshift((await world.create()).task.id);
    const request = { accountId: 'acme', limit: 2, inSteps: true };

    const first = await client.listTasks(request);
    const last = await client.listTasks({ ...request, after: first.continueAfter });

    expect([first.tasks.map(({ id }) => id), first.hasMore, first.continueAfter]).toEqual([
      ids.slice(0, 2),
      true,
      ids[1],
    ]);
    expect([last.tasks.map(({ id }) => id), last.hasMore, last.continueAfter]).toEqual([ids.slice(2), false, '']);
  });

  test.each([{ offset: 1 }, { withTotal: true }])(
    'refuses steps with %j, which would not be quick',
    async (request) => {
      const { client } = await open();

      await expect(client.listTasks({ accountId: 'acme', inSteps: true, ...request })).rejects.toMatchObject({
        kind: 'invalid',
        reason: 'invalid_request',
        field: 'in_steps',
      });
    },
  );
});
