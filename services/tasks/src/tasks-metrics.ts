import type { Metrics } from '@reelgate/platform/metrics/metrics';
import type { CircuitState } from '@reelgate/platform/limits/circuit-breaker';
import type { Submission } from './channels/channel.ts';
import type { ChannelRegistry } from './channels/channel-registry.ts';
import { ATTENTION_REASONS } from './operations/attention/raise-attention.ts';
import type { Counts } from './operations/deps.ts';
import type { JobCounts } from './operations/jobs/job-deps.ts';
import type { PausedChannels } from './operations/operators/paused-channels.ts';
import type { OpenWatches, WatchMethod } from './operations/watches/open-watches.ts';
import type { TasksWatchDeps } from './operations/watches/watch-tasks.ts';
import { toModelLabel } from './configured-names.ts';
import type { ConfiguredNames } from './configured-names.ts';
import { taskDurations } from './task-durations.ts';

const SUBMISSION_OUTCOMES: readonly Submission['outcome'][] = ['accepted', 'refused', 'unknown'];

/** The counters of this service. What alerts watch begins at 0. */
export function tasksMetrics(
  metrics: Metrics,
  configured: ConfiguredNames,
): Omit<Counts, 'refused' | 'refusedBy' | 'settled'> & JobCounts {
  const attempts = metrics.counter('reelgate_attempts_total', 'Attempts by channel and outcome', [
    'channel',
    'outcome',
  ]);
  attempts.begin(() =>
    configured.channels().flatMap((channel) => SUBMISSION_OUTCOMES.map((outcome) => [channel, outcome])),
  );
  const created = metrics.counter(
    'reelgate_tasks_created_total',
    'Tasks that an upstream accepted or may have accepted, by kind and model',
    ['kind', 'model'],
  );
  const finished = metrics.counter('reelgate_tasks_finished_total', 'Finished tasks by kind and state', [
    'kind',
    'state',
  ]);
  const attention = metrics.counter('reelgate_attention_total', 'Tasks that a person must decide over, by reason', [
    'reason',
  ]);
  attention.begin(() => ATTENTION_REASONS.map((reason) => [reason]));
  const polls = metrics.counter('reelgate_polls_total', 'Polls of upstreams by channel and outcome', [
    'channel',
    'outcome',
  ]);
  const softDeadlines = metrics.counter('reelgate_soft_deadline_total', 'Tasks past the soft deadline', []);
  const jobs = metrics.counter('reelgate_jobs_ended_total', 'Ended jobs by endpoint and outcome', [
    'endpoint',
    'outcome',
  ]);
  const took = taskDurations(metrics, configured);
  return {
    jobEnded: (endpoint, outcome) => {
      jobs.labels(endpoint, outcome).inc();
    },
    attempt: (channel, outcome) => {
      attempts.labels(channel, outcome).inc();
    },
    created: ({ order: { kind, model } }) => {
      created.labels(kind, toModelLabel(model, configured)).inc();
    },
    finished: (task, finish, times) => {
      finished.labels(task.order.kind, finish.state).inc();
      took(task, finish, times);
    },
    attention: (reason) => {
      attention.labels(reason).inc();
    },
    softDeadline: () => {
      softDeadlines.labels().inc();
    },
    poll: (channel, outcome) => {
      polls.labels(channel, outcome).inc();
    },
  };
}

const CIRCUIT_VALUES: Readonly<Record<CircuitState, number>> = { closed: 0, half_open: 1, open: 2 };

/** The circuits of channels, and the best of each model, read when the metrics are read. */
export function watchCircuits(metrics: Metrics, channels: ChannelRegistry): void {
  metrics.gauge(
    'reelgate_channel_circuit',
    'Circuit of a channel: 0 closed, 1 half open, 2 open',
    ['channel'],
    (gauge) => {
      gauge.reset();
      for (const { channel, circuit } of channels.all())
        gauge.labels(channel.settings.id).set(CIRCUIT_VALUES[circuit.state()]);
    },
  );
  metrics.gauge(
    'reelgate_model_circuit',
    'The best circuit among the channels of a model that are enabled and not paused: 0 closed, 1 half open, 2 open',
    ['model'],
    (gauge) => {
      gauge.reset();
      for (const [model, value] of bestCircuits(channels)) gauge.labels(model).set(value);
    },
  );
}

/** The channels of the configuration, whichever service they belong to, and whether an operator paused them. */
export function watchPauses(
  metrics: Metrics,
  channelIds: () => readonly string[],
  paused: Pick<PausedChannels, 'has'>,
): void {
  metrics.gauge('reelgate_channel_paused', 'Whether an operator has paused a channel: 0 or 1', ['channel'], (gauge) => {
    gauge.reset();
    for (const id of channelIds()) gauge.labels(id).set(paused.has(id) ? 1 : 0);
  });
}

/** The lowest value of the circuits of each model. */
function bestCircuits(channels: Pick<ChannelRegistry, 'all'>): ReadonlyMap<string, number> {
  const best = new Map<string, number>();
  for (const { channel, circuit, isPaused } of channels.all()) {
    const { enabled, models } = channel.settings;
    if (!enabled || isPaused()) continue;
    const value = CIRCUIT_VALUES[circuit.state()];
    for (const model of Object.keys(models)) best.set(model, Math.min(best.get(model) ?? value, value));
  }
  return best;
}

/** The live processes of this service, read when the metrics are read. */
export function watchReplicas(metrics: Metrics, replicas: () => number): void {
  metrics.gauge('reelgate_tasks_replicas', 'Live processes of the tasks service', [], (gauge) => {
    gauge.labels().set(replicas());
  });
}

const WATCH_METHODS: readonly WatchMethod[] = ['WatchTask', 'WatchTasks', 'WatchEvents'];

/** The number of open watches, and how often a slow reader fell behind. */
export function watchCounts(metrics: Metrics, watches: Pick<OpenWatches, 'count'>): TasksWatchDeps['count'] {
  metrics.gauge('reelgate_watches', 'Open watches by method', ['method'], (gauge) => {
    for (const method of WATCH_METHODS) gauge.labels(method).set(watches.count(method));
  });
  const fellBehind = metrics.counter(
    'reelgate_watches_behind_total',
    'Times that a watch dropped changes its reader did not take, and read them again later',
    [],
  );
  return {
    fellBehind: () => {
      fellBehind.labels().inc();
    },
  };
}
