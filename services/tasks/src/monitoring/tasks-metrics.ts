import type { CircuitState } from '@reelgate/platform/limits/circuit-breaker';
import type { Metrics } from '@reelgate/platform/metrics/metrics';
import { readSampledTraceId } from '@reelgate/platform/trace/traceparent';
import type { ChannelRegistry } from '../channels/channel-registry.ts';
import type { Submission } from '../channels/channel.ts';
import { QUEUE_CLASSES, readLane } from '../domain/lane.ts';
import type { Model } from '../domain/model.ts';
import type { Task } from '../domain/task.ts';
import { ATTENTION_REASONS } from '../operations/ends/raise-attention.ts';
import type { AlertCounts, Counts, QueueCounts, QueueView, RefusedPlace, WorkCounts } from '../operations/deps.ts';
import type { JobCounts } from '../operations/jobs/job-deps.ts';
import type { PausedChannels } from '../operations/operators/pause-channel.ts';
import type { OpenWatches, WatchMethod } from '../operations/watches/open-watches.ts';
import type { TasksWatchDeps } from '../operations/watches/watch-tasks.ts';
import type { Claim } from '../store/queue-store.ts';
import type { Finish, PhaseTimes } from '../store/finish.ts';

const WHOLE_SECONDS = [5, 10, 20, 30, 45, 60, 90, 120, 180, 240, 300, 600, 900, 1800, 3600];
const LAG_SECONDS = [1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800];
const PHASE_SECONDS = [0.1, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600];

/** From a turn that comes almost at once to the longest wait of the class `batch`. */
const WAIT_SECONDS = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14_400, 43_200, 86_400];

const SUBMISSION_OUTCOMES: readonly Submission['outcome'][] = ['accepted', 'refused', 'unknown'];

type ServiceCounts = WorkCounts & AlertCounts & QueueCounts & JobCounts;

/** The counters of this service. What alerts watch begins at 0. */
export function tasksMetrics(metrics: Metrics, configured: ConfiguredNames): ServiceCounts {
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
  const callbacks = metrics.counter(
    'reelgate_upstream_callbacks_total',
    'Callbacks of upstreams by channel and signature',
    ['channel', 'signature'],
  );
  const softDeadlines = metrics.counter('reelgate_soft_deadline_total', 'Tasks past the soft deadline', []);
  const jobs = metrics.counter('reelgate_jobs_ended_total', 'Ended jobs by endpoint and outcome', [
    'endpoint',
    'outcome',
  ]);
  const took = taskDurations(metrics, configured);
  return {
    ...queueMetrics(metrics),
    jobEnded: (endpoint, outcome) => jobs.labels(endpoint, outcome).inc(),
    callback: (channel, signature) => callbacks.labels(channel, signature).inc(),
    attempt: (channel, outcome) => attempts.labels(channel, outcome).inc(),
    created: ({ order: { kind, model } }) => created.labels(kind, toModelLabel(model, configured)).inc(),
    finished: (task, finish, times) => {
      finished.labels(task.order.kind, finish.state).inc();
      took(task, finish, times);
    },
    attention: (reason) => attention.labels(reason).inc(),
    softDeadline: () => softDeadlines.labels().inc(),
    poll: (channel, outcome) => polls.labels(channel, outcome).inc(),
  };
}

const CLAIM_OUTCOMES: readonly Claim['outcome'][] = ['claimed', 'empty', 'full'];
const REFUSED_PLACES: readonly RefusedPlace[] = ['queue_full', 'would_wait_too_long'];

function queueMetrics(metrics: Metrics): QueueCounts {
  const claims = metrics.counter('reelgate_queue_claims_total', 'Claims of the next task of a lane, by outcome', [
    'outcome',
  ]);
  claims.begin(() => CLAIM_OUTCOMES.map((outcome) => [outcome]));
  const refused = metrics.counter('reelgate_queue_refused_total', 'Creates that got no place in the queue, by reason', [
    'reason',
  ]);
  refused.begin(() => REFUSED_PLACES.map((reason) => [reason]));
  const expired = metrics.counter('reelgate_queue_expired_total', 'Tasks that had no turn in time, by class', [
    'class',
  ]);
  expired.begin(() => QUEUE_CLASSES.map((ofClass) => [ofClass]));
  const waited = metrics.histogram(
    'reelgate_wait_seconds',
    'Time from the begin of the wait of a task to its turn, by class',
    WAIT_SECONDS,
    ['class'],
  );
  waited.begin(() => QUEUE_CLASSES.map((ofClass) => [ofClass]));
  return {
    claimed: (claim, at) => {
      claims.labels(claim.outcome).inc();
      if (claim.outcome !== 'claimed') return;
      const { task, place } = claim;
      waited.labels(readLane(place.lane).class).observe(seconds(place.since, at), readSampledTraceId(task.trace));
    },
    notQueued: (reason) => refused.labels(reason).inc(),
    expired: (ofClass) => expired.labels(ofClass).inc(),
  };
}

/** The turns of this process, as its metrics watch them. */
export interface TurnWatch {
  /** The milliseconds since the next pass was due. A pass that hangs or fails leaves it due. 0 while no task waits. */
  lateMs(): number;
  /** The number of lanes in which tasks wait and that no channel serves, at the last pass. */
  unserved(): number;
}

/** The state of this process's turns, and the limits of the queue, read when the metrics are read. */
export function watchQueue(metrics: Metrics, view: Pick<QueueView, 'limits'>, turns: TurnWatch): void {
  metrics.gauge(
    'reelgate_queue_late_seconds',
    'How long ago this process should have given the next turn; 0 while nothing waits',
    [],
    (gauge) => gauge.labels().set(turns.lateMs() / 1000),
  );
  metrics.gauge(
    'reelgate_queue_lanes_without_channel',
    'Lanes in which tasks wait and that no channel serves',
    [],
    (gauge) => gauge.labels().set(turns.unserved()),
  );
  metrics.gauge('reelgate_queue_places', 'The most tasks that may wait; 0: none', [], (gauge) =>
    gauge.labels().set(view.limits?.total ?? 0),
  );
  metrics.gauge(
    'reelgate_queue_longest_wait_seconds',
    'The time after which a task that waits fails, by class; 0: none waits',
    ['class'],
    (gauge) => {
      for (const ofClass of QUEUE_CLASSES) gauge.labels(ofClass).set((view.limits?.longestWaitMs[ofClass] ?? 0) / 1000);
    },
  );
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
export function watchPauses(metrics: Metrics, channelIds: () => readonly string[], paused: PausedChannels): void {
  metrics.gauge('reelgate_channel_paused', 'Whether an operator has paused a channel: 0 or 1', ['channel'], (gauge) => {
    gauge.reset();
    for (const id of channelIds()) gauge.labels(id).set(paused.has(id) ? 1 : 0);
  });
}

/** The lowest value of the circuits of each model. */
function bestCircuits(channels: ChannelRegistry): ReadonlyMap<string, number> {
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
  metrics.gauge('reelgate_tasks_replicas', 'Live processes of the tasks service', [], (gauge) =>
    gauge.labels().set(replicas()),
  );
}

const WATCH_METHODS: readonly WatchMethod[] = ['WatchTask', 'WatchTasks', 'WatchEvents'];

/** The number of open watches, and how often a slow reader fell behind. */
export function watchCounts(metrics: Metrics, watches: OpenWatches): TasksWatchDeps['count'] {
  metrics.gauge('reelgate_watches', 'Open watches by method', ['method'], (gauge) => {
    for (const method of WATCH_METHODS) gauge.labels(method).set(watches.count(method));
  });
  const fellBehind = metrics.counter(
    'reelgate_watches_behind_total',
    'Times that a watch dropped changes its reader did not take, and read them again later',
    [],
  );
  return {
    fellBehind: () => fellBehind.labels().inc(),
  };
}

/** Measures how long tasks took: from their creation, in each phase, and from their end at the upstream. */
export function taskDurations(metrics: Metrics, configured: ConfiguredNames): Counts['finished'] {
  const whole = metrics.histogram(
    'reelgate_task_seconds',
    'Time from the creation of a task to its end',
    WHOLE_SECONDS,
    ['kind', 'model', 'channel', 'state'],
  );
  const inPhase = metrics.histogram(
    'reelgate_task_phase_seconds',
    'Time of completed tasks in each phase: submit, queue and work of the upstream, fetch',
    PHASE_SECONDS,
    ['model', 'channel', 'phase'],
  );
  const lag = metrics.histogram(
    'reelgate_task_lag_seconds',
    'Time from the end of the work, as the upstream reports it, to the end of its task',
    LAG_SECONDS,
    ['channel'],
  );
  lag.begin(() => configured.channels().map((channel) => [channel]));
  return (task, finish, times) => {
    const { kind, model } = task.order;
    const channel = task.mapping?.channel ?? 'none';
    const shown = toModelLabel(model, configured);
    const traceId = readSampledTraceId(task.trace);
    whole.labels(kind, shown, channel, finish.state).observe(seconds(task.createdAt, finish.at), traceId);
    if (finish.state === 'completed')
      for (const [phase, took] of measurePhases(task, finish, times))
        inPhase.labels(shown, channel, phase).observe(took, traceId);
    if (finish.upstreamEndedAt !== undefined)
      lag.labels(channel).observe(seconds(finish.upstreamEndedAt, finish.at), traceId);
  };
}

type Phase = 'submit' | 'queue' | 'work' | 'fetch';

/**
 * The phases of a task one after the other: together they are its whole time. If no poll saw the upstream at work, the
 * time in its queue counts as work. If the upstream does not report when it ended, the fetch begins with the poll that
 * saw the end.
 */
function measurePhases(
  { createdAt }: Task,
  { at, upstreamEndedAt, fetchMs = 0 }: Finish,
  { acceptedAt, workingAt }: PhaseTimes,
): readonly (readonly [Phase, number])[] {
  if (acceptedAt === undefined) return [];
  const begunAt = workingAt ?? acceptedAt;
  // The clock of the upstream may be ahead or behind.
  const endedAt = Math.min(Math.max(upstreamEndedAt ?? at - fetchMs, begunAt), at);
  return [
    ['submit', seconds(createdAt, acceptedAt)],
    ...(workingAt === undefined ? [] : [['queue', seconds(acceptedAt, workingAt)] as const]),
    ['work', seconds(begunAt, endedAt)],
    ['fetch', seconds(endedAt, at)],
  ];
}

/** The clocks of two machines may differ by more than the time between two events. */
function seconds(from: number, to: number): number {
  return Math.max(0, to - from) / 1000;
}

/** The models and channels of the current configuration. A label names no others. */
interface ConfiguredNames {
  readonly models: () => ReadonlyMap<string, Model>;
  readonly channels: () => readonly string[];
}

/** The label of a model, which may have left the configuration since its task was created. */
function toModelLabel(model: string, { models }: ConfiguredNames): string {
  return models().has(model) ? model : 'removed';
}
