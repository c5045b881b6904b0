import type { Clock } from '@reelgate/platform/clock';
import type { GaugeSampler, Point } from '@reelgate/platform/metrics/sampled-gauges';
import type { ChannelRegistry } from '../channels/channel-registry.ts';
import { QUEUE_CLASSES, SCHEDULED_LANE, readLane } from '../domain/lane.ts';
import type { Model } from '../domain/model.ts';
import type { BacklogStore, LaneCount } from '../store/backlog-store.ts';
import type { OpenBatchReader } from '../store/batch-store.ts';
import type { PendingJobReader } from '../store/job-store.ts';

const WHOLE = 'over the whole database: aggregate with max';
const BATCH_PHASES = ['reading', 'running', 'writing'] as const;
const JOB_STATES = ['queued', 'in_progress'] as const;

export interface Backlogs {
  readonly tasks: BacklogStore;
  readonly jobs: PendingJobReader;
  readonly batches: OpenBatchReader;
  readonly models: () => ReadonlyMap<string, Model>;
  readonly channels: ChannelRegistry;
  readonly clock: Clock;
}

/** Adds the gauges of waiting work in the database, for tasks and for asynchronous calls. */
export function watchBacklogs(sampler: GaugeSampler, backlogs: Backlogs): void {
  const { tasks, jobs, channels, clock } = backlogs;
  const age = (since: number | undefined): number =>
    since === undefined ? 0 : Math.max(0, clock.now() - since) / 1000;
  watchDue(sampler, backlogs, age);
  sampler.add(
    [
      {
        name: 'reelgate_tasks_open',
        help: `Unfinished tasks by state and channel, ${WHOLE}`,
        labelNames: ['state', 'channel'],
      },
    ],
    async () => [openPoints(await tasks.openTasks(), (id) => channels.find(id) !== undefined)],
  );
  sampler.add(
    [
      { name: 'reelgate_attention_open', help: `Tasks that wait for a person, ${WHOLE}` },
      { name: 'reelgate_attention_oldest_seconds', help: `How long the first of them has waited, ${WHOLE}` },
    ],
    async () => {
      const { count, oldest } = await tasks.countAttention();
      return [[only(count)], [only(age(oldest))]];
    },
  );
  watchLanes(sampler, backlogs, age);
  sampler.add(
    [
      {
        name: 'reelgate_settlement_lag_seconds',
        help: `Age of the oldest end of a task whose money is not settled, ${WHOLE}`,
      },
    ],
    async () => [[only(age((await tasks.countUnsettled()).oldest))]],
  );
  watchJobs(sampler, jobs, age);
  watchBatches(sampler, backlogs.batches, age);
}

type Age = (since: number | undefined) => number;

function watchDue(sampler: GaugeSampler, { tasks, channels, clock }: Backlogs, age: Age): void {
  sampler.add(
    [
      {
        name: 'reelgate_tasks_due_lag_seconds',
        help: `How late the oldest due poll of a channel is, ${WHOLE}`,
        labelNames: ['channel'],
      },
    ],
    async () => {
      const ids = channels.all().map(({ channel }) => channel.settings.id);
      const since = await tasks.dueSince(ids, clock.now());
      return [ids.map((id) => ({ labels: [id], value: age(since.get(id)) }))];
    },
  );
}

function watchLanes(sampler: GaugeSampler, { tasks, models }: Backlogs, age: Age): void {
  const labelNames = ['model', 'class'];
  sampler.add(
    [
      { name: 'reelgate_tasks_waiting', help: `Tasks that wait for a channel, ${WHOLE}`, labelNames },
      {
        name: 'reelgate_tasks_waiting_oldest_seconds',
        help: `How long the first of them has waited, ${WHOLE}`,
        labelNames,
      },
      { name: 'reelgate_tasks_scheduled', help: `Tasks that wait for their time, ${WHOLE}` },
    ],
    async () => {
      const lanes = await tasks.countLanes();
      const waiting = sumByModelAndClass(lanes, models());
      return [
        waiting.map(({ labels, count }) => ({ labels, value: count })),
        waiting.map(({ labels, oldest }) => ({ labels, value: age(oldest) })),
        [only(lanes.find(({ lane }) => lane === SCHEDULED_LANE)?.count ?? 0)],
      ];
    },
  );
}

interface WaitingSum {
  readonly labels: readonly string[];
  count: number;
  oldest: number | undefined;
}

/** Every class of a configured model is there. A model that is no longer configured has no name here. */
function sumByModelAndClass(lanes: readonly LaneCount[], models: ReadonlyMap<string, Model>): readonly WaitingSum[] {
  const sums = new Map<string, WaitingSum>();
  const find = (...labels: readonly string[]): WaitingSum => {
    const key = labels.join(' ');
    const sum = sums.get(key) ?? { labels, count: 0, oldest: undefined };
    sums.set(key, sum);
    return sum;
  };
  for (const model of models.keys()) for (const ofClass of QUEUE_CLASSES) find(model, ofClass);
  for (const { lane, count, oldest = Infinity } of lanes) {
    if (lane === SCHEDULED_LANE) continue;
    const { model, class: ofClass } = readLane(lane);
    const sum = find(models.has(model) ? model : 'removed', ofClass);
    sum.count += count;
    sum.oldest = Math.min(sum.oldest ?? Infinity, oldest);
  }
  return [...sums.values()];
}

function watchJobs(sampler: GaugeSampler, jobs: Backlogs['jobs'], age: Age): void {
  sampler.add(
    [
      { name: 'reelgate_jobs', help: `Jobs that have not ended, by state, ${WHOLE}`, labelNames: ['state'] },
      {
        name: 'reelgate_jobs_oldest_seconds',
        help: `Age of the oldest job that has not ended, by state, ${WHOLE}`,
        labelNames: ['state'],
      },
    ],
    async () => {
      const pending = new Map((await jobs.pendingJobs()).map((row) => [row.state, row]));
      return [
        JOB_STATES.map((state) => ({ labels: [state], value: pending.get(state)?.count ?? 0 })),
        JOB_STATES.map((state) => ({ labels: [state], value: age(pending.get(state)?.oldestAt) })),
      ];
    },
  );
}

function watchBatches(sampler: GaugeSampler, batches: Backlogs['batches'], age: Age): void {
  const labelNames = ['phase'];
  sampler.add(
    [
      { name: 'reelgate_batches', help: `Batches that have not ended, by phase, ${WHOLE}`, labelNames },
      { name: 'reelgate_batches_oldest_seconds', help: `Age of the oldest of them, by phase, ${WHOLE}`, labelNames },
      { name: 'reelgate_batch_lines_open', help: `Their lines that have not ended, by phase, ${WHOLE}`, labelNames },
    ],
    async () => {
      const open = new Map((await batches.countOpen()).map((row) => [row.phase, row]));
      return [
        BATCH_PHASES.map((phase) => ({ labels: [phase], value: open.get(phase)?.count ?? 0 })),
        BATCH_PHASES.map((phase) => ({ labels: [phase], value: age(open.get(phase)?.oldestAt) })),
        BATCH_PHASES.map((phase) => ({ labels: [phase], value: open.get(phase)?.openLines ?? 0 })),
      ];
    },
  );
}

/** A channel that is no longer configured has no name here, so that all names come from the configuration. */
function openPoints(open: Awaited<ReturnType<BacklogStore['openTasks']>>, isKnown: (id: string) => boolean): Point[] {
  const points = new Map<string, { readonly labels: readonly string[]; value: number }>();
  for (const { channel, state, count } of open) {
    const name = channel === undefined ? 'none' : isKnown(channel) ? channel : 'removed';
    const key = `${state} ${name}`;
    const point = points.get(key) ?? { labels: [state, name], value: 0 };
    point.value += count;
    points.set(key, point);
  }
  return [...points.values()];
}

function only(value: number): Point {
  return { labels: [], value };
}
