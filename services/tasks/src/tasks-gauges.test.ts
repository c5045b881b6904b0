import { expect, test } from '@jest/globals';
import { silentLog } from '@reelgate/platform/log';
import { openMetrics } from '@reelgate/platform/metrics/metrics';
import { gaugeSampler } from '@reelgate/platform/metrics/sampled-gauges';
import { channelSettings } from '../testing/channel-settings.ts';
import { useWorlds } from '../testing/open-world.ts';
import type { World } from '../testing/open-world.ts';
import { sqlJobs } from './store/jobs/sql-jobs.ts';
import { sqlBacklog } from './store/tasks/sql-backlog.ts';
import { watchBacklogs } from './tasks-gauges.ts';

const open = useWorlds();

function gaugesOf({ deps, sql, clock }: World): () => Promise<string[]> {
  const metrics = openMetrics(false, clock);
  watchBacklogs(gaugeSampler(metrics, { service: 'tasks', clock, log: silentLog }), {
    tasks: sqlBacklog(sql),
    jobs: sqlJobs(sql, deps.newId),
    channels: deps.channels,
    clock,
  });
  return async () => (await metrics.text()).split('\n').filter((line) => /^reelgate_(tasks|settlement|att)/.test(line));
}

test('the gauges show open tasks and late polls by channel', async () => {
  const world = await open();
  const gauges = gaugesOf(world);
  await world.create();
  expect(await gauges()).toEqual([
    'reelgate_tasks_due_lag_seconds{channel="main"} 0',
    'reelgate_tasks_open{state="queued",channel="main"} 1',
    'reelgate_attention_open 0',
    'reelgate_attention_oldest_seconds 0',
    'reelgate_tasks_waiting 0',
    'reelgate_tasks_waiting_oldest_seconds 0',
    'reelgate_settlement_lag_seconds 0',
  ]);

  await world.clock.advance(32_400);

  expect((await gauges())[0]).toBe('reelgate_tasks_due_lag_seconds{channel="main"} 30');
});

test('the gauges show how many tasks wait for a channel, and how long the first one has', async () => {
  const queue = { perAccount: 9, total: 9, longestWaitMs: { interactive: 9, standard: 3_600_000, batch: 9 } };
  const world = await open({ channels: [channelSettings({ inFlightMax: 1 })], queue });
  for (let count = 0; count < 3; count += 1) await world.create();
  await world.clock.advance(90_000);

  const gauges = await gaugesOf(world)();
  expect(gauges).toContain('reelgate_tasks_waiting 2');
  expect(gauges).toContain('reelgate_tasks_waiting_oldest_seconds 90');
  expect(gauges).toContain('reelgate_tasks_open{state="queued",channel="none"} 2');
});

test('a channel that is no longer configured has no name in the gauges', async () => {
  const world = await open();
  const { task } = await world.create();
  await world.sql.write("UPDATE tasks SET channel = 'a stranger\"s' WHERE id = $1", [task.id]);

  expect(await gaugesOf(world)()).toContain('reelgate_tasks_open{state="queued",channel="removed"} 1');
});
