import type { Metrics } from '@reelgate/platform/metrics/metrics';
import { readSampledTraceId } from '@reelgate/platform/trace/traceparent';
import type { Task } from './domain/task.ts';
import type { Counts } from './operations/deps.ts';
import type { Finish, PhaseTimes } from './store/task-store.ts';
import { toModelLabel } from './configured-names.ts';
import type { ConfiguredNames } from './configured-names.ts';

const WHOLE_SECONDS = [5, 10, 20, 30, 45, 60, 90, 120, 180, 240, 300, 600, 900, 1800, 3600];
const LAG_SECONDS = [1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800];
const PHASE_SECONDS = [0.1, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600];

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
  { createdAt }: Pick<Task, 'createdAt'>,
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
