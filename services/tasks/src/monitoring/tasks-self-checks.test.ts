import { describe, expect, test } from '@jest/globals';
import { runChecks } from '@reelgate/platform/diagnosis/self-checks';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { channelSettings } from '../../testing/channel-settings.ts';
import { LOST, refused } from '../../testing/fake-upstream.ts';
import { useWorlds } from '../../testing/open-world.ts';
import type { World } from '../../testing/open-world.ts';
import { anOrder } from '../../testing/orders.ts';
import type { Submission } from '../channels/channel.ts';
import { tasksSelfChecks } from './tasks-self-checks.ts';
import type { CheckedStores } from './tasks-self-checks.ts';
import type { LateTask, LateTasks } from '../store/backlog-store.ts';
import { sqlBacklog, sqlSelfChecks } from '../store/tasks/sql-backlog.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const open = useWorlds();
const clock = fakeClock();
const NONE: LateTasks = { count: 0, isAtLeast: false, oldest: [] };

/** What the checks of tasks say about one part. */
async function check(part: string, changes: { readonly late?: LateTasks; readonly jobs?: CheckedStores['jobs'] }) {
  const world = await open();
  let createdBefore = 0;
  const checks = tasksSelfChecks(world.deps, {
    backlog: sqlBacklog(world.sql),
    checks: {
      outbox: async () => ({ oldestAt: undefined }),
      attemptsSince: async () => [],
      lateTasks: async (before) => {
        createdBefore = before;
        return changes.late ?? NONE;
      },
    },
    jobs: changes.jobs ?? { pendingJobs: async () => [] },
    softDeadlineMs: 30 * MINUTE_MS,
  });
  const [found] = await runChecks(
    checks.filter((one) => one.part === part),
    clock,
  );
  return { found, createdBefore };
}

const aLateTask = (id: string, ageMs: number, changes: Partial<LateTask> = {}): LateTask => ({
  id,
  channel: 'alpha',
  createdAt: clock.now() - ageMs,
  isUnknown: false,
  ...changes,
});

test('tasks past the soft deadline are named with their age and channel, and with the commands that help', async () => {
  const oldest = [
    aLateTask('task_1', 5 * HOUR_MS),
    aLateTask('task_2', 45 * MINUTE_MS, { channel: 'beta', isUnknown: true }),
    aLateTask('task_3', 31 * MINUTE_MS, { channel: undefined }),
  ];
  const { found, createdBefore } = await check('late tasks', { late: { count: 7, isAtLeast: false, oldest } });

  expect(createdBefore).toBe(clock.now() - 30 * MINUTE_MS);
  expect(found).toEqual({
    part: 'late tasks',
    grade: 'warn',
    detail:
      'past the soft deadline of 30 min: 7; the oldest: task_1 (5 h, channel alpha), ' +
      'task_2 (45 min, channel beta, its submission is unknown), task_3 (31 min, no channel yet)',
    advice: 'reelgate task show task_1; reelgate channel test alpha',
  });
});

test('more late tasks than were counted are said to be more', async () => {
  const late = { count: 1000, isAtLeast: true, oldest: [aLateTask('task_1', HOUR_MS)] };

  expect((await check('late tasks', { late })).found?.detail).toContain('at least 1000');
  expect((await check('late tasks', {})).found).toEqual({
    part: 'late tasks',
    grade: 'ok',
    detail: 'no task is past the soft deadline of 30 min',
  });
});

test('asynchronous calls that no worker takes are named, as by the alert about them', async () => {
  const queued = (ageMs: number) => ({
    pendingJobs: async () => [
      { state: 'in_progress', count: 1, oldestAt: clock.now() - HOUR_MS },
      { state: 'queued', count: 3, oldestAt: clock.now() - ageMs },
    ],
  });

  expect((await check('jobs', { jobs: queued(MINUTE_MS) })).found).toMatchObject({ grade: 'ok' });
  expect((await check('jobs', { jobs: queued(3 * MINUTE_MS) })).found).toMatchObject({
    grade: 'warn',
    detail: '3 queued asynchronous calls wait, the oldest for 180 s',
    advice: expect.stringContaining('reelgate job list --state queued'),
  });
});

describe('of the attempts on a channel', () => {
  const checkAfter = async (submission: Submission, accounts: readonly string[], served: readonly string[] = []) => {
    const world = await open({ channels: [channelSettings({ id: 'first', priority: 1 }), channelSettings()] });
    for (const accountId of served) await world.create(anOrder(), { accountId });
    world.upstream.answer('first', ...accounts.map(() => submission));
    for (const accountId of accounts) await world.create(anOrder(), { accountId }).catch(() => undefined);
    return runAttemptCheck(world);
  };
  const runAttemptCheck = async (world: World) => {
    const stores = {
      ...{ backlog: sqlBacklog(world.sql), checks: sqlSelfChecks(world.sql) },
      ...{ jobs: { pendingJobs: async () => [] }, softDeadlineMs: HOUR_MS },
    };
    const checks = tasksSelfChecks(world.deps, stores).filter(({ part }) => part === 'attempts');
    return runChecks(checks, clock);
  };
  const ALONE = Array.from({ length: 6 }, () => 'acme');
  const SEVERAL = ALONE.map((account, index) => (index % 2 === 0 ? account : 'other'));

  test.each([refused('channel'), LOST])('the faults that several accounts met are told: %j', async (submission) => {
    const [found] = await checkAfter(submission, SEVERAL);

    expect(found?.grade).not.toBe('ok');
    expect(found?.detail).toMatch(/^channel first: of \d attempts in 15 minutes \d were not accepted/);
  });

  test('those of one account are no finding while the channel takes the orders of another one', async () => {
    const [found] = await checkAfter(LOST, ALONE, ['other']);

    expect(found).toMatchObject({ grade: 'ok', detail: '7 in 15 minutes, no channel stands out' });
  });

  test('those of the only account are one, and name it', async () => {
    const [found] = await checkAfter(refused('channel'), ALONE);

    expect(found?.detail).toMatch(
      /^channel first: of 5 attempts in 15 minutes 5 were not accepted, all of account acme, 0 without an answer; /,
    );
  });

  test('orders that the channel cannot express, so that nothing was sent, are none', async () => {
    const [found] = await checkAfter(refused('unfit'), SEVERAL);

    expect(found).toMatchObject({ grade: 'ok', detail: '12 in 15 minutes, no channel stands out' });
  });

  test('attempts for which the channel had no room, so that nothing was sent, are none', async () => {
    const world = await open({ channels: [channelSettings({ id: 'first', priority: 1 }), channelSettings()] });
    Object.assign(world.deps.channels.find('first')!.creates, { admit: async () => Infinity });
    for (const accountId of SEVERAL) await world.create(anOrder(), { accountId });

    const refusals = (await sqlSelfChecks(world.sql).attemptsSince(0)).filter(({ outcome }) => outcome === 'refused');
    expect(refusals.map(({ channel }) => channel)).toEqual(ALONE.map(() => 'first'));
    const [found] = await runAttemptCheck(world);
    expect(found).toMatchObject({ grade: 'ok', detail: '12 in 15 minutes, no channel stands out' });
  });

  test('doctor reports no refusals of content', async () => {
    const [found] = await checkAfter(refused('content'), SEVERAL);

    expect(found).toMatchObject({ grade: 'ok', detail: '6 in 15 minutes, no channel stands out' });
  });
});
