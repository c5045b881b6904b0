import { expect, test } from '@jest/globals';
import { newMetrics } from '@reelgate/platform/metrics/metrics';
import { channelSettings } from '../../testing/channel-settings.ts';
import { useWorlds } from '../../testing/open-world.ts';
import { aContextIr, anOrder } from '../../testing/orders.ts';
import type { Report } from '../domain/report.ts';
import type { Deps } from '../operations/deps.ts';
import { applyReport } from '../operations/polls/apply-report.ts';
import { taskDurations } from './tasks-metrics.ts';

const open = useWorlds();

test('the time of a task counts under the model of the configuration, and its lag behind the upstream', async () => {
  const world = await open({ channels: [channelSettings()] });
  const metrics = newMetrics(false, world.clock);
  const { task } = await world.create(anOrder());
  const finished = taskDurations(metrics, { models: world.deps.models, channels: () => [] });
  const at = task.createdAt + 70_000;

  finished(task, { state: 'completed', at, upstreamEndedAt: at - 4000 }, {});
  finished(
    { ...task, order: { ...task.order, model: 'x\n# HELP y' } },
    { state: 'failed', at, upstreamEndedAt: at + 9 },
    {},
  );

  const lines = (await metrics.text()).split('\n');
  const labels = `kind="generation",model="${task.order.model}",channel="main",state="completed"`;
  expect(lines).toEqual(
    expect.arrayContaining([
      `reelgate_task_seconds_bucket{le="60",${labels}} 0`,
      `reelgate_task_seconds_bucket{le="90",${labels}} 1`,
      'reelgate_task_seconds_sum{kind="generation",model="removed",channel="main",state="failed"} 70',
      'reelgate_task_lag_seconds_bucket{le="1",channel="main"} 1',
      'reelgate_task_lag_seconds_bucket{le="2.5",channel="main"} 1',
      'reelgate_task_lag_seconds_bucket{le="5",channel="main"} 2',
      'reelgate_task_lag_seconds_sum{channel="main"} 4',
    ]),
  );
});

interface Life {
  /** What polls report, each after a time in milliseconds. */
  readonly polls: readonly (readonly [number, (now: number) => Report])[];
  readonly submitMs?: number;
  readonly fetchMs?: number;
  /** The seconds of each phase. */
  readonly phases: Readonly<Record<string, number>>;
}

const waits = (): Report => ({ phase: 'queued', status: 'queued' });
const works = (): Report => ({ phase: 'running', status: 'running' });
const done =
  (endedMsAgo?: number) =>
  (now: number): Report => ({
    phase: 'succeeded',
    status: 'succeeded',
    url: 'https://cdn.vendor.example/1',
    prompt: 'a prompt',
    ...(endedMsAgo === undefined ? {} : { endedAt: now - endedMsAgo }),
  });
const failed = (): Report => ({ phase: 'failed', status: 'failed', failure: { code: 'x', message: 'y' } });

test.each<[string, Life]>([
  [
    'is divided at its acceptance, at the first poll that sees work, and at the end that the upstream reports',
    {
      submitMs: 2000,
      polls: [
        [10_000, waits],
        [20_000, works],
        [40_000, works],
        [15_000, done(5000)],
      ],
      fetchMs: 3000,
      phases: { submit: 2, queue: 30, work: 50, fetch: 8 },
    },
  ],
  [
    'has no time in the queue if no poll saw the upstream at work',
    {
      polls: [
        [10_000, waits],
        [10_000, done(1000)],
      ],
      phases: { submit: 0, work: 19, fetch: 1 },
    },
  ],
  [
    'has its fetch from the poll that saw the end if the upstream reports none',
    {
      polls: [
        [10_000, works],
        [10_000, done()],
      ],
      fetchMs: 4000,
      phases: { submit: 0, queue: 10, work: 10, fetch: 4 },
    },
  ],
  [
    'is never negative, whatever the clock of the upstream says',
    {
      polls: [
        [10_000, works],
        [10_000, done(60_000)],
      ],
      phases: { submit: 0, queue: 10, work: 0, fetch: 10 },
    },
  ],
  [
    'is not divided if the task failed',
    {
      polls: [
        [10_000, works],
        [10_000, failed],
      ],
      phases: {},
    },
  ],
])('the time of a task %s', async (_what, { polls, submitMs = 0, fetchMs = 0, phases }) => {
  const world = await open({ channels: [channelSettings()] });
  const metrics = newMetrics(false, world.clock);
  const finished = taskDurations(metrics, { models: world.deps.models, channels: () => [] });
  const deps: Deps = { ...world.deps, count: { ...world.deps.count, finished } };
  world.journal.put(async ({ name }, proceed) => {
    if (name === 'main.submit') await world.clock.advance(submitMs);
    if (name === 'media.ingest') await world.clock.advance(fetchMs);
    return proceed();
  });
  const { task } = await world.create(anOrder());

  for (const [afterMs, report] of polls) {
    await world.clock.advance(afterMs);
    await applyReport(deps, (await deps.store.find(task.id))!, report(world.clock.now()));
  }

  const { finishedAt = 0, createdAt } = (await deps.store.find(task.id))!;
  const shown = [
    ...(await metrics.text()).matchAll(
      /^reelgate_task_phase_seconds_sum\{model="(.+)",channel="main",phase="(\w+)"\} (.+)$/gm,
    ),
  ];
  expect(Object.fromEntries(shown.map(([, , phase = '', sum]) => [phase, Number(sum)]))).toEqual(phases);
  for (const [, model] of shown) expect(model).toBe(task.order.model);
  const total = Object.values(phases).reduce((sum, took) => sum + took, 0);
  expect(total).toBe(Object.keys(phases).length === 0 ? 0 : (finishedAt - createdAt) / 1000);
});

test('a prompt has no fetch, only the time until a poll saw its end', async () => {
  const world = await open({ channels: [channelSettings()] });
  const metrics = newMetrics(false, world.clock);
  const finished = taskDurations(metrics, { models: world.deps.models, channels: () => [] });
  const { task } = await world.create(aContextIr());
  await world.clock.advance(9000);

  const deps = { ...world.deps, count: { ...world.deps.count, finished } };
  await applyReport(deps, (await deps.store.find(task.id))!, done(2000)(world.clock.now()));

  expect(await metrics.text()).toMatch(/^reelgate_task_phase_seconds_sum\{.*phase="fetch"\} 2$/m);
});
