import type { Bus } from '@reelgate/platform/bus/bus';
import type { Clock } from '@reelgate/platform/clock';
import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import { startWorker } from '@reelgate/platform/lifecycle/worker';
import type { Worker } from '@reelgate/platform/lifecycle/worker';
import type { Log } from '@reelgate/platform/log';
import type { Metrics } from '@reelgate/platform/metrics/metrics';
import { watchCounts } from '../monitoring/tasks-metrics.ts';
import { onTaskChanged } from '../events/task-events.ts';
import { newOpenWatches } from '../operations/watches/open-watches.ts';
import { newWatchHub } from '../operations/watches/watch-hub.ts';
import type { TaskWatchDeps, TasksWatchDeps } from '../operations/watches/watch-tasks.ts';
import type { TaskStore } from '../store/task-store.ts';

const READ_IDLE_MS = 500;
const HEARTBEAT_IDLE_MS = 1000;

export interface WatchParts {
  readonly store: TaskStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly bus: Bus;
  readonly metrics: Metrics;
}

/** Starts the shared workers of all watches of this process: its reads, its announcements and its heartbeats. */
export async function startWatches(
  { store, clock, log, bus, metrics }: WatchParts,
  lifecycle: Lifecycle,
): Promise<TaskWatchDeps & TasksWatchDeps> {
  let reads: Worker | undefined = undefined;
  const hub = newWatchHub({ store, clock, wake: () => reads?.wake() });
  const watches = newOpenWatches(clock);
  reads = startWorker({ name: 'watches', clock, log, idleMs: READ_IDLE_MS, pass: () => hub.pass() });
  const heartbeats = startWorker({
    name: 'heartbeats',
    clock,
    log,
    idleMs: HEARTBEAT_IDLE_MS,
    pass: async () => ({ dueAt: watches.pass() }),
  });
  lifecycle.add('watches', () => Promise.all([reads?.stop(), heartbeats.stop()]).then(() => undefined));
  const changes = await onTaskChanged(bus, hub);
  lifecycle.add('task events', () => changes.stop());
  return { hub, store, watches, count: watchCounts(metrics, watches) };
}
