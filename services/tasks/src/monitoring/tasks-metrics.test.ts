import { expect, test } from '@jest/globals';
import { newMetrics } from '@reelgate/platform/metrics/metrics';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { newChannelRegistry } from '../channels/channel-registry.ts';
import { tasksMetrics, watchCircuits, watchQueue } from './tasks-metrics.ts';
import { channelSettings } from '../../testing/channel-settings.ts';
import { aTask } from '../../testing/tasks.ts';
import type { Channel } from '../channels/channel.ts';
import { nameLane } from '../domain/lane.ts';

test('the metrics contain the circuit state of each channel at the time of the request', async () => {
  const metrics = newMetrics(false);
  const channels = newChannelRegistry([channelSettings()], {
    clock: fakeClock(),
    adapters: { scripted: (settings) => ({ settings }) as Channel },
    chance: () => 0.5,
  });
  watchCircuits(metrics, channels);
  expect(await metrics.text()).toContain('reelgate_channel_circuit{channel="main"} 0');

  for (let fault = 0; fault < 5; fault += 1) channels.find('main')!.circuit.failed();
  expect(await metrics.text()).toContain('reelgate_channel_circuit{channel="main"} 2');
});

test('the metrics contain the best circuit among the enabled channels of each model', async () => {
  const metrics = newMetrics(false);
  const models = { 'Alpha-H3': 'alpha', Other: 'other' };
  const channels = newChannelRegistry(
    [
      channelSettings({ id: 'one', models }),
      channelSettings({ id: 'two', models: { 'Alpha-H3': 'alpha' } }),
      channelSettings({ id: 'disabled', models, enabled: false }),
    ],
    { clock: fakeClock(), adapters: { scripted: (settings) => ({ settings }) as Channel }, chance: () => 0.5 },
  );
  watchCircuits(metrics, channels);
  const shown = async (): Promise<string[]> =>
    (await metrics.text()).split('\n').filter((line) => line.startsWith('reelgate_model_circuit{'));
  const fail = (id: string): void => {
    for (let fault = 0; fault < 5; fault += 1) channels.find(id)!.circuit.failed();
  };

  fail('one');
  expect(await shown()).toEqual([
    'reelgate_model_circuit{model="Alpha-H3"} 0',
    'reelgate_model_circuit{model="Other"} 2',
  ]);

  fail('two');
  expect(await shown()).toEqual([
    'reelgate_model_circuit{model="Alpha-H3"} 2',
    'reelgate_model_circuit{model="Other"} 2',
  ]);
});

test.each<[string, string | undefined, string]>([
  [
    'keeps the trace of a recorded task as an exemplar',
    '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    ' # {trace_id="4bf92f3577b34da6a3ce929d0e0e4736"}',
  ],
  ['has no exemplar of a task that is not recorded', undefined, ''],
])('the time of a task %s', async (_what, trace, exemplar) => {
  const metrics = newMetrics(false, fakeClock(1_800_000_000_000));
  const counts = tasksMetrics(metrics, { models: () => new Map(), channels: () => [] });
  const task = aTask({ trace });
  counts.finished(task, { state: 'failed', at: task.createdAt + 7000, upstreamEndedAt: task.createdAt + 5000 }, {});

  const shown = (await metrics.text('openmetrics')).split('\n');
  const about = (text: string, seconds: number): string =>
    `${text}${exemplar === '' ? '' : `${exemplar} ${seconds} 1800000000`}`;
  const labels = `kind="${task.order.kind}",model="removed",channel="main",state="failed"`;
  expect(shown).toContain(about(`reelgate_task_seconds_bucket{le="10",${labels}} 1`, 7));
  expect(shown).toContain(about('reelgate_task_lag_seconds_bucket{le="2.5",channel="main"} 1', 2));
});

test('a turn counts with the time that its task has waited, by the class of its lane', async () => {
  const metrics = newMetrics(false);
  const counts = tasksMetrics(metrics, { models: () => new Map(), channels: () => [] });
  const lane = nameLane({ kind: 'generation', model: 'Alpha-H3', without: [], class: 'batch' });
  const place = {
    ...{ taskId: 'task_1', lane, accountId: 'acme', tokenId: 'token_1', caps: [], mediaJson: '{}', refusals: 0 },
    ...{ cost: 5, since: 1000, startBy: 9000 },
  };
  counts.claimed({ outcome: 'claimed', task: aTask(), place, number: 1 }, 8000);
  counts.claimed({ outcome: 'full', scope: 'channel:main' }, 8000);

  const shown = (await metrics.text()).split('\n');
  expect(shown.filter((line) => /^reelgate_(?:queue_claims|wait_seconds_(?:sum|count)).* [^0]/.test(line))).toEqual([
    'reelgate_queue_claims_total{outcome="claimed"} 1',
    'reelgate_queue_claims_total{outcome="full"} 1',
    'reelgate_wait_seconds_sum{class="batch"} 7',
    'reelgate_wait_seconds_count{class="batch"} 1',
  ]);
});

test.each([
  [
    { perAccount: 10, total: 100, longestWaitMs: { interactive: 120_000, standard: 3_600_000, batch: 86_400_000 } },
    [100, 120, 3600, 86_400],
  ],
  [undefined, [0, 0, 0, 0]],
])('the limits %j of the queue are shown, so that alerts need no copy of the configuration', async (limits, values) => {
  const metrics = newMetrics(false);
  watchQueue(metrics, { limits }, { lateMs: () => 1500, unserved: () => 2 });

  const shown = (await metrics.text()).split('\n').filter((line) => line.startsWith('reelgate_'));
  expect(shown.map((line) => Number(line.split(' ').at(-1)))).toEqual([1.5, 2, ...values]);
});
