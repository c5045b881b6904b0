import { expect, test } from '@jest/globals';
import { runChecks } from '@reelgate/platform/diagnosis/self-checks';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { useWorlds } from '../testing/open-world.ts';
import { tasksSelfChecks } from './tasks-self-checks.ts';
import type { CheckedStores } from './tasks-self-checks.ts';
import type { LateTask, LateTasks } from './store/backlog-store.ts';
import { sqlBacklog } from './store/tasks/sql-backlog.ts';

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
