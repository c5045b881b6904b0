import type { Channel, ListedWork } from '../channels/channel.ts';
import type { Task } from '../domain/task.ts';
import type { Deps } from './deps.ts';
import { raiseAttention } from './raise-attention.ts';

/** The upstream writes its own times in whole seconds, by its own clock. */
const CLOCK_SLACK_MS = 5000;
const LOOKING_MS = 60_000;
const BATCH_MAX = 100;
const LIST_TIMEOUT_MS = 20_000;

/**
 * One pass over the tasks whose submission got no answer: a task is given the upstream's work only when exactly one piece of it that
 * nobody has fits in every fact and in time, and only one such task could have it. What is not found within a minute a person is told
 * of; nothing is ever submitted again. Gives how many were found.
 */
export async function reconcileUnknown(deps: Deps): Promise<number> {
  const unknown = (await deps.store.withAdmission('unknown', BATCH_MAX)).filter(({ mapping }) => mapping?.upstreamId === undefined);
  let found = 0;
  for (const [channelId, tasks] of Map.groupBy(unknown, ({ mapping }) => mapping?.channel ?? '')) {
    const channel = deps.fleet.find(channelId)?.channel;
    const works = channel?.settings.reconcile === 'list' ? await unclaimed(deps, channel, tasks) : undefined;
    for (const task of tasks) found += await settle(deps, task, { channel, rivals: tasks, works });
  }
  return found;
}

interface Search {
  readonly channel: Channel | undefined;
  readonly rivals: readonly Task[];
  readonly works: readonly ListedWork[] | undefined;
}

async function settle(deps: Deps, task: Task, search: Search): Promise<number> {
  const { channel } = search;
  const fitting = fittingWork(task, search);
  const only = onlyClaim(task, search, fitting);
  if (channel !== undefined && only !== undefined && (await deps.store.adopt(task.id, only.upstreamId, deps.clock.now()))) {
    deps.log.info({ taskId: task.id, channel: channel.settings.id }, 'a lost answer was found in the list of the upstream');
    deps.wake.polls(channel.settings.id);
    return 1;
  }
  if (deps.clock.now() - task.updatedAt > LOOKING_MS) {
    await raiseAttention(deps, task, 'unknown_outcome', `the answer to the submission was lost, and ${fitting.length === 0 ? 'no work' : 'more than one piece of work'} upstream fits`);
  }
  return 0;
}

function fittingWork(task: Task, { channel, works = [] }: Search): readonly ListedWork[] {
  return channel === undefined ? [] : works.filter((work) => fits(channel, task, work));
}

/** The one piece of work that fits, unless another task could have it too. */
function onlyClaim(task: Task, search: Search, fitting: readonly ListedWork[]): ListedWork | undefined {
  const [only] = fitting;
  if (only === undefined || fitting.length > 1) return undefined;
  return search.rivals.some((rival) => rival.id !== task.id && fittingWork(rival, search).includes(only)) ? undefined : only;
}

/** Upstream work since the oldest of these tasks that no task of ours has. */
async function unclaimed(deps: Deps, channel: Channel, tasks: readonly Task[]): Promise<readonly ListedWork[] | undefined> {
  const since = Math.min(...tasks.map(({ createdAt }) => createdAt)) - CLOCK_SLACK_MS;
  const works = await channel.list(since, AbortSignal.timeout(LIST_TIMEOUT_MS));
  if (works === undefined) return undefined;
  const known = await deps.store.knownUpstreamIds(channel.settings.upstreamAccount, works.map(({ upstreamId }) => upstreamId));
  return works.filter(({ upstreamId }) => !known.has(upstreamId));
}

function fits({ settings }: Channel, task: Task, work: ListedWork): boolean {
  const { order } = task;
  return work.kind === order.kind
    && work.model === settings.models[order.model]
    && (order.duration === undefined || work.duration === order.duration)
    && (order.resolution === undefined || work.resolution === order.resolution)
    && sameRatio(order.ratio, work.ratio)
    && work.createdAt >= task.createdAt - CLOCK_SLACK_MS
    && work.createdAt <= task.updatedAt + CLOCK_SLACK_MS;
}

/** Upstreams show an adaptive ratio as what it became. */
function sameRatio(asked: string | undefined, shown: string | undefined): boolean {
  return asked === undefined || shown === undefined || asked === 'adaptive' || asked === shown;
}
