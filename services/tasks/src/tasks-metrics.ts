import type { Clock } from '@reelgate/platform/clock';
import type { Metrics } from '@reelgate/platform/metrics/metrics';
import type { CircuitState } from '@reelgate/platform/limits/circuit-breaker';
import type { ChannelRegistry } from './channels/channel-registry.ts';
import type { Counts } from './operations/deps.ts';
import type { JobCounts } from './operations/jobs/job-deps.ts';
import type { OpenWatches, WatchMethod } from './operations/watches/open-watches.ts';
import type { TasksWatchDeps } from './operations/watches/watch-tasks.ts';
import type { JobStore } from './store/job-store.ts';

/** The counters of this service. */
export function tasksMetrics(metrics: Metrics): Counts & JobCounts {
  const attempts = metrics.counter('reelgate_attempts_total', 'Attempts by channel and outcome', [
    'channel',
    'outcome',
  ]);
  const finished = metrics.counter('reelgate_tasks_finished_total', 'Finished tasks by kind and state', [
    'kind',
    'state',
  ]);
  const attention = metrics.counter('reelgate_attention_total', 'Tasks that a person must decide over, by reason', [
    'reason',
  ]);
  const polls = metrics.counter('reelgate_polls_total', 'Polls of upstreams by channel and outcome', [
    'channel',
    'outcome',
  ]);
  const softDeadlines = metrics.counter('reelgate_soft_deadline_total', 'Tasks past the soft deadline', []);
  const jobs = metrics.counter('reelgate_jobs_ended_total', 'Ended jobs by endpoint and outcome', [
    'endpoint',
    'outcome',
  ]);
  return {
    jobEnded: (endpoint, outcome) => {
      jobs.labels(endpoint, outcome).inc();
    },
    attempt: (channel, outcome) => {
      attempts.labels(channel, outcome).inc();
    },
    finished: (kind, state) => {
      finished.labels(kind, state).inc();
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

/** The state of each channel's circuit, read when the metrics are read. */
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
}

/** The live processes of this service, read when the metrics are read. */
export function watchReplicas(metrics: Metrics, replicas: () => number): void {
  metrics.gauge('reelgate_tasks_replicas', 'Live processes of the tasks service', [], (gauge) => {
    gauge.labels().set(replicas());
  });
}

const WATCH_METHODS: readonly WatchMethod[] = ['WatchTask', 'WatchTasks'];

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

/** The number of unfinished jobs and the age of the oldest, by state. */
export function watchJobs(metrics: Metrics, store: Pick<JobStore, 'pendingJobs'>, clock: Clock): void {
  const age = metrics.gauge('reelgate_jobs_oldest_seconds', 'Age of the oldest job that has not ended, by state', [
    'state',
  ]);
  metrics.gauge('reelgate_jobs', 'Jobs that have not ended, by state', ['state'], async (gauge) => {
    const pending = new Map((await store.pendingJobs()).map((row) => [row.state, row]));
    for (const state of ['queued', 'in_progress']) {
      const { count = 0, oldestAt = clock.now() } = pending.get(state) ?? {};
      gauge.labels(state).set(count);
      age.labels(state).set(Math.max(0, clock.now() - oldestAt) / 1000);
    }
  });
}
