import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import { useWorlds } from '../../../testing/open-world.ts';
import type { World } from '../../../testing/open-world.ts';
import { anOrder } from '../../../testing/orders.ts';
import { eventTypes } from '../../../testing/store/opened-store.ts';
import type { Report } from '../../domain/report.ts';
import type { Task } from '../../domain/task.ts';
import { resolveAttention } from '../attention/resolve-attention.ts';
import { applyReport } from './apply-report.ts';
import { postponePoll } from './postpone-poll.ts';

const open = useWorlds();
const queued: Report = { phase: 'queued', status: 'queued' };
const running = (progress?: number): Report => ({ phase: 'running', status: 'running', progress });
const paused: Report = { phase: 'unrecognised', status: 'paused' };
const failed: Report = {
  phase: 'failed',
  status: 'cancelled',
  failure: { code: 'cancelled', message: 'the generator ended the task' },
};

/** A world with one accepted task. `apply` applies a report to its current state. */
async function withTask(...reports: readonly Report[]) {
  const world = await open();
  const { id } = (await world.create(anOrder())).task;
  const now = async (): Promise<Task> => (await world.deps.store.find(id))!;
  const apply = async (report: Report): Promise<Task> => {
    await applyReport(world.deps, await now(), report);
    return now();
  };
  for (const report of reports) await apply(report);
  (world.announced as unknown[]).length = 0;
  return { world, id, now, apply };
}

const reasons = async ({ deps }: World): Promise<string[]> =>
  (await deps.store.listOpenAttention()).map(({ reason }) => reason);
const outboxOf = ({ sql }: World): Promise<readonly object[]> => sql.read('SELECT id, type FROM outbox');

describe('a task that waits for a decision because its upstream did not know it', () => {
  const withDoubt = async () => {
    const all = await withTask();
    for (let pass = 0; pass < 5; pass += 1)
      await postponePoll(all.world.deps, await all.now(), { error: 'no such task', doubt: 'unknown_upstream_task' });
    expect(await reasons(all.world)).toEqual(['unknown_upstream_task']);
    return all;
  };

  test.each([queued, running(20)])('needs no decision once the upstream knows it again: $phase', async (report) => {
    const { world, apply } = await withDoubt();

    await apply(report);

    expect(await reasons(world)).toEqual([]);
  });

  test('waits for another reason when the upstream reports an unknown status', async () => {
    const { world, apply } = await withDoubt();

    await apply(paused);

    expect(await reasons(world)).toEqual(['unknown_status']);
  });

  test('keeps waiting when a deadline has passed too', async () => {
    const { world, id, apply } = await withTask();
    await postponePoll(world.deps, (await world.deps.store.find(id))!, {
      error: 'no such task',
      doubt: 'unknown_upstream_task',
    });
    await world.deps.store.raise({ taskId: id, reason: 'hard_deadline', detail: 'it takes too long', since: 1 });

    await apply(running(20));

    expect(await reasons(world)).toEqual(['hard_deadline']);
  });
});

test('a poll that was on its way when a person decided asks for no second decision', async () => {
  const { world, id, now } = await withTask(paused);
  const polled = await now();
  const decision = { resolution: 'failed', actor: 'ann', reason: 'it is lost' } as const;
  await resolveAttention(world.deps, id, decision);

  await applyReport(world.deps, polled, paused);

  expect(await reasons(world)).toEqual([]);
});

describe('queued work', () => {
  test('stays queued, and is polled again after the interval for its age', async () => {
    const { world, apply } = await withTask();
    await world.clock.advance(20_000);

    expect(await apply(queued)).toMatchObject({
      state: 'queued',
      progress: 0,
      upstreamStatus: 'queued',
      pollErrors: 0,
      nextPollAt: world.clock.now() + 8100,
    });
    expect(world.announced).toEqual([]);
  });

  test('after running stays in progress', async () => {
    const { apply } = await withTask(running(40));

    expect(await apply(queued)).toMatchObject({ state: 'in_progress', progress: 40, upstreamStatus: 'queued' });
  });
});

describe('running work', () => {
  test('is in progress from its first report, even without a progress', async () => {
    const { world, id, apply } = await withTask();

    expect(await apply(running())).toMatchObject({ state: 'in_progress', progress: 10 });
    expect(world.announced).toEqual([{ id, accountId: 'acme', state: 'in_progress' }]);
    expect(await eventTypes(world.deps.store, id)).toContain('reported');
  });

  test('shows the reported progress', async () => {
    const { world, apply } = await withTask(running(20));

    expect(await apply(running(60))).toMatchObject({ progress: 60 });
    expect(world.announced).toHaveLength(1);
  });

  test('announces nothing, and writes no event, when nothing has changed', async () => {
    const { world, id, apply } = await withTask(running(20));
    const before = await eventTypes(world.deps.store, id);

    await apply(running(20));

    expect(world.announced).toEqual([]);
    expect(await eventTypes(world.deps.store, id)).toEqual(before);
  });

  test('resets the count of failed polls', async () => {
    const { world, id, now, apply } = await withTask();
    await world.deps.store.progress(id, 'queued', {
      state: 'queued',
      unrecognised: false,
      progress: 0,
      pollErrors: 4,
      nextPollAt: 1,
      at: 1,
    });
    expect((await now()).pollErrors).toBe(4);

    expect(await apply(running())).toMatchObject({ pollErrors: 0 });
  });
});

describe('failed work', () => {
  test.each<[string, readonly Report[]]>([
    ['while queued', []],
    ['while running', [running(50)]],
    ['after an unknown status', [paused]],
  ])('%s ends the task, with its event', async (_when, before) => {
    const { world, id, apply } = await withTask(...before);

    expect(await apply(failed)).toMatchObject({
      state: 'failed',
      progress: 0,
      upstreamStatus: 'cancelled',
      unrecognised: false,
      failure: { code: 'cancelled' },
      finishedAt: world.clock.now(),
    });
    expect(await outboxOf(world)).toEqual([{ id, type: 'reelgate.tasks.v1.TaskFinished' }]);
    expect(world.announced).toEqual([{ id, accountId: 'acme', state: 'failed' }]);
    expect(world.counted).toEqual(expect.arrayContaining(['finished generation failed', 'wake outbox', 'wake events']));
    expect(await reasons(world)).toEqual([]);
    expect(await world.deps.store.inFlight('total')).toBe(0);
  });
});

test('a client reads a failure in public words, and operators read it in those of the upstream', async () => {
  const { world, id, apply } = await withTask();
  const failure = { code: 'DataInspectionFailed', message: 'No faces, please. Ask your Google representative.' };

  expect(await apply({ phase: 'failed', status: 'FAILED', failure })).toMatchObject({
    failure: { code: 'content_rejected', message: 'No faces, please.' },
  });
  const ended = (await world.deps.store.events(id)).find(({ type }) => type === 'failed');
  expect(JSON.parse(ended!.detailJson)).toMatchObject({ code: 'content_rejected', upstream: failure });
});

test('a failure is kept with what the upstream charged for it', async () => {
  const { apply } = await withTask();

  expect(await apply({ ...failed, costMicroUsd: 350_000 })).toMatchObject({
    state: 'failed',
    upstreamCostMicroUsd: 350_000,
  });
});

describe('an unknown status', () => {
  test('is stored and shown unchanged, asks for a decision, and is polled again', async () => {
    const { world, id, apply } = await withTask(running(30));

    expect(await apply(paused)).toMatchObject({
      state: 'in_progress',
      upstreamStatus: 'paused',
      unrecognised: true,
      progress: 30,
      nextPollAt: world.clock.now() + 2400,
    });
    expect(await world.deps.store.listOpenAttention()).toMatchObject([
      {
        taskId: id,
        reason: 'unknown_status',
        detail: expect.stringContaining('"paused"'),
        since: timestampFromMs(world.clock.now()),
      },
    ]);
    expect(world.announced).toHaveLength(1);
    expect(world.counted).toContain('attention unknown_status');
    expect(await outboxOf(world)).toEqual([]);
  });

  test('that repeats asks for one decision, and is announced once', async () => {
    const { world, apply } = await withTask(paused);

    await apply(paused);
    await apply(paused);

    expect(world.counted.filter((word) => word.startsWith('attention'))).toHaveLength(1);
    expect(world.announced).toEqual([]);
  });

  test('that changes to another unknown status is announced again', async () => {
    const { world, apply } = await withTask(paused);

    expect(await apply({ phase: 'unrecognised', status: 'thinking' })).toMatchObject({
      upstreamStatus: 'thinking',
      unrecognised: true,
    });
    expect(world.announced).toHaveLength(1);
  });

  test('needs no decision once a known status follows', async () => {
    const { world, id, apply } = await withTask(paused);

    expect(await apply(running(50))).toMatchObject({
      state: 'in_progress',
      unrecognised: false,
      upstreamStatus: 'running',
    });
    expect(await reasons(world)).toEqual([]);
    expect(await world.deps.store.events(id)).toContainEqual(
      expect.objectContaining({
        type: 'attention_resolved',
        detailJson: '{"resolution":"repaired","actor":"service"}',
      }),
    );
  });

  test.each(['__proto__', '', '<b>', 'x'.repeat(1000)])('is never interpreted: %j', async (status) => {
    const { apply } = await withTask();

    expect(await apply({ phase: 'unrecognised', status })).toMatchObject({
      state: 'queued',
      upstreamStatus: status,
      unrecognised: true,
    });
  });
});

test.each<Report>([queued, running(50), failed, paused])('no report changes an ended task: $status', async (report) => {
  const { world, id, now } = await withTask();
  const stale = await now();
  await world.deps.store.finish(id, { state: 'completed', at: 1, result: { object: 'obj_1' } });
  const ended = await now();

  await applyReport(world.deps, stale, report);

  expect(await now()).toEqual(ended);
  expect(world.announced).toEqual([]);
  expect(await outboxOf(world)).toHaveLength(1);
});
