import { expect, test } from '@jest/globals';
import { silentLog } from '@reelgate/platform/log';
import { newMetrics } from '@reelgate/platform/metrics/metrics';
import { gaugeSampler } from '@reelgate/platform/metrics/sampled-gauges';
import { channelSettings } from '../../testing/channel-settings.ts';
import { useWorlds } from '../../testing/open-world.ts';
import { anOrder } from '../../testing/orders.ts';
import type { World } from '../../testing/open-world.ts';
import { sqlBatches } from '../store/batches/sql-batches.ts';
import { sqlJobs } from '../store/jobs/sql-jobs.ts';
import { sqlBacklog } from '../store/tasks/sql-backlog.ts';
import { watchBacklogs } from './tasks-gauges.ts';

const open = useWorlds();

function gaugesOf({ deps, sql, clock }: World): () => Promise<string[]> {
  const metrics = newMetrics(false, clock);
  watchBacklogs(gaugeSampler(metrics, { service: 'tasks', clock, log: silentLog }), {
    tasks: sqlBacklog(sql),
    jobs: sqlJobs(sql, deps.newId),
    batches: sqlBatches(sql, deps.newId),
    models: deps.models,
    channels: deps.channels,
    clock,
  });
  return async () => (await metrics.text()).split('\n').filter((line) => /^reelgate_(tasks|settlement|att)/.test(line));
}

test('the gauges show open tasks and late polls by channel', async () => {
  const world = await open();
  const gauges = gaugesOf(world);
  await world.create();
  expect((await gauges()).filter((line) => !/_(?:waiting|scheduled)/.test(line))).toEqual([
    'reelgate_tasks_due_lag_seconds{channel="main"} 0',
    'reelgate_tasks_open{state="queued",channel="main"} 1',
    'reelgate_attention_open 0',
    'reelgate_attention_oldest_seconds 0',
    'reelgate_settlement_lag_seconds 0',
  ]);

  await world.clock.advance(33_000);

  expect((await gauges())[0]).toBe('reelgate_tasks_due_lag_seconds{channel="main"} 30');
});

test('the gauges show how many tasks of each model and class wait, and how long the first one has', async () => {
  const queue = { perAccount: 9, total: 9, longestWaitMs: { interactive: 9, standard: 3_600_000, batch: 3_600_000 } };
  const world = await open({ channels: [channelSettings({ inFlightMax: 1 })], queue });
  for (let count = 0; count < 3; count += 1) await world.create();
  await world.clock.advance(60_000);
  await world.create(anOrder(), { wait: { class: 'batch', startWithinMs: 1000 } });
  await world.create(anOrder(), { wait: { notBefore: world.clock.now() + 3_600_000 } });
  await world.clock.advance(30_000);

  const gauges = await gaugesOf(world)();
  expect(gauges.filter((line) => /_(?:waiting|scheduled)/.test(line))).toEqual([
    'reelgate_tasks_waiting{model="Alpha-H3",class="interactive"} 0',
    'reelgate_tasks_waiting{model="Alpha-H3",class="standard"} 2',
    'reelgate_tasks_waiting{model="Alpha-H3",class="batch"} 1',
    'reelgate_tasks_waiting{model="Other-V1",class="interactive"} 0',
    'reelgate_tasks_waiting{model="Other-V1",class="standard"} 0',
    'reelgate_tasks_waiting{model="Other-V1",class="batch"} 0',
    'reelgate_tasks_waiting_oldest_seconds{model="Alpha-H3",class="interactive"} 0',
    'reelgate_tasks_waiting_oldest_seconds{model="Alpha-H3",class="standard"} 90',
    'reelgate_tasks_waiting_oldest_seconds{model="Alpha-H3",class="batch"} 30',
    'reelgate_tasks_waiting_oldest_seconds{model="Other-V1",class="interactive"} 0',
    'reelgate_tasks_waiting_oldest_seconds{model="Other-V1",class="standard"} 0',
    'reelgate_tasks_waiting_oldest_seconds{model="Other-V1",class="batch"} 0',
    'reelgate_tasks_scheduled 1',
  ]);
  expect(gauges).toContain('reelgate_tasks_open{state="queued",channel="none"} 4');
});

test('tasks that wait for a model that is no longer configured have no model of their own in the gauges', async () => {
  const queue = { perAccount: 9, total: 9, longestWaitMs: { interactive: 9, standard: 3_600_000, batch: 9 } };
  const world = await open({ channels: [channelSettings({ inFlightMax: 1 })], queue });
  for (let count = 0; count < 2; count += 1) await world.create();

  const gauges = await gaugesOf({ ...world, deps: { ...world.deps, models: () => new Map() } })();
  expect(gauges).toContain('reelgate_tasks_waiting{model="removed",class="standard"} 1');
});

test('a channel that is no longer configured has no name in the gauges', async () => {
  const world = await open();
  const { task } = await world.create();
  await world.sql.write("UPDATE tasks SET channel = 'a stranger\"s' WHERE id = $1", [task.id]);

  expect(await gaugesOf(world)()).toContain('reelgate_tasks_open{state="queued",channel="removed"} 1');
});
