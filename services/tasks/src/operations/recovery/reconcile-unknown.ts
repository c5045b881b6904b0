import { withTimeout } from '@reelgate/platform/clock';
import { readIdTime } from '@reelgate/platform/ids';
import type { Channel, ListedWork } from '../../channels/channel.ts';
import type { ChannelRuntime } from '../../channels/channel-registry.ts';
import type { Task } from '../../domain/task.ts';
import { inTask } from '../tracing/work-span.ts';
import type { Deps } from '../deps.ts';
import { raiseAttention } from '../ends/raise-attention.ts';
import { endTask } from '../ends/end-task.ts';
import { INTERRUPTED_FAILURE, askForHolds } from './recover-creates.ts';
import type { HadNoHold } from './recover-creates.ts';
import { waitForPoll } from '../wait-for-poll.ts';
import { settleByKey } from './settle-by-key.ts';

/** The upstream dates its work in whole seconds, by its own clock. */
const CLOCK_SLACK_MS = 5000;
/** If a clock was set or is wrong, work that differs from the times of the task by less may still be its own. */
const SET_CLOCK_MS = 3_600_000;
/** Clocks are in doubt this long before and after a time at which they were seen to be wrong. */
const DOUBT_MS = 3 * SET_CLOCK_MS;
export const SEARCH_MS = 60_000;
const PAGE = 500;
const PAGES_MAX = 200;
const LIST_TIMEOUT_MS = 20_000;
const RESOLVED_BY_SERVICE = { resolution: 'found', actor: 'service' };

/**
 * Runs one pass over the tasks that got no answer to their submission. Where the upstream can be asked for an attempt
 * by its key, the answer settles the task. Otherwise a task adopts work of the upstream only if exactly one piece of
 * work without a task matches it in every fact and in time, and if no other task could own that work. A task that had
 * its clock set during its create could own any matching work of that hour, and so could each task if clocks were seen
 * to be wrong about then. After a minute, or later where the upstream can be asked, a task without a hold fails: its
 * create was interrupted while billing could not be asked, and it was never submitted. For any other task a person is
 * asked. The order is never submitted again. Returns how many tasks were settled.
 */
export async function reconcileUnknown(deps: Deps): Promise<number> {
  let found = 0;
  const hadNoHold = askForHolds(deps);
  for (const [channelId, tasks] of Map.groupBy(
    await listAllWithAdmission(deps, 'unknown'),
    ({ mapping }) => mapping?.channel ?? '',
  )) {
    // An upstream that has asked to wait is searched later, and no person is asked because of that.
    if ((deps.channels.find(channelId)?.askedWaitMs('reads') ?? 0) > 0) continue;
    // The longer a search is in vain, the less often it runs.
    if (deps.chance() * (deps.clock.now() - Math.max(...tasks.map(({ updatedAt }) => updatedAt))) > SEARCH_MS) continue;
    const open = await askByKey(deps, channelId, tasks);
    found += tasks.length - open.length;
    if (open.length === 0) continue;
    const search = await searchUpstream(deps, channelId, open);
    for (const task of open) found += await inTask(task, () => adoptOrRaise(deps, task, search, hadNoHold));
  }
  return found;
}

/** Returns the tasks that are still open after the upstream was asked for them by key, if it can be. */
async function askByKey(deps: Deps, channelId: string, tasks: readonly Task[]): Promise<readonly Task[]> {
  const runtime = deps.channels.find(channelId);
  const asked = runtime?.channel.canFind === true ? runtime : undefined;
  // After a reload the same name may mean another upstream account.
  const account = asked?.channel.settings.upstreamAccount;
  const ours = tasks.filter(({ mapping }) => mapping?.upstreamAccount === account);
  if (asked === undefined || ours.length === 0) return tasks;
  const others = tasks.filter((task) => !ours.includes(task));
  return [...others, ...(await settleByKey(deps, asked, ours))];
}

/** The time after which a person is asked: later where a search by key settles every attempt in the end. */
function computeSearchMs(channel: Channel | undefined): number {
  const settlesAfterMs = channel?.findSettlesAfterMs ?? Infinity;
  return Number.isFinite(settlesAfterMs) ? settlesAfterMs + SEARCH_MS : SEARCH_MS;
}

/**
 * Reports whether the task may have ordered the work. If the upstream has a list, the list must show the work: missing
 * work may be older than the task, and belong to another one.
 */
export async function mayHaveOrdered(
  deps: Deps,
  runtime: ChannelRuntime,
  task: Task,
  upstreamId: string,
): Promise<boolean> {
  const { channel } = runtime;
  if (!hasList(channel)) return true;
  const isInDoubt = await readClockDoubts(deps, task.createdAt);
  const slackMs = computeSlackMs(deps, task, isInDoubt(task.createdAt));
  const works = await listWorks(deps, runtime, task.createdAt - slackMs);
  return works?.some((work) => work.upstreamId === upstreamId && matchesOrder(channel, task, work)) === true;
}

/**
 * Reads the list with a poll of the channel. Returns undefined if the upstream has no list or it cannot be read now.
 */
async function listWorks(deps: Deps, runtime: ChannelRuntime, since: number): ReturnType<Channel['list']> {
  const { channel } = runtime;
  if (!hasList(channel) || !(await waitForPoll(deps, runtime))) return undefined;
  return withTimeout(deps.clock, { ms: LIST_TIMEOUT_MS }, (signal) => channel.list(since, signal));
}

/** Reports whether the upstream has a list that the channel may read. */
function hasList({ canList, settings }: Channel): boolean {
  return canList && settings.reconcile === 'list';
}

interface Search {
  readonly channel: Channel | undefined;
  /**
   * The listed work without a task, each with the ids of the tasks that could own it. Undefined if no list could be
   * read.
   */
  readonly claims: ReadonlyMap<ListedWork, ReadonlySet<string>> | undefined;
}

async function searchUpstream(deps: Deps, channelId: string, tasks: readonly Task[]): Promise<Search> {
  const runtime = deps.channels.find(channelId);
  const channel = runtime?.channel;
  const since = Math.min(...tasks.map(({ createdAt }) => createdAt)) - CLOCK_SLACK_MS;
  const works = runtime && (await listWorks(deps, runtime, since));
  if (channel === undefined || works === undefined) return { channel, claims: undefined };
  // Read in this order: the owner of listed work had a row earlier, so now it is being submitted, unknown or known.
  const { upstreamAccount } = channel.settings;
  const unsure = [
    ...(await listAllWithAdmission(deps, 'submitting')),
    ...(await listAllWithAdmission(deps, 'waiting')),
    ...(await listAllWithAdmission(deps, 'unknown')),
  ];
  const claimants = unsure.filter(
    ({ mapping }) => mapping === undefined || mapping.upstreamAccount === upstreamAccount,
  );
  const known = await deps.store.findKnownUpstreamIds(
    upstreamAccount,
    works.map(({ upstreamId }) => upstreamId),
  );
  const isInDoubt = await readClockDoubts(deps, since);
  const listClaimants = (work: ListedWork): readonly Task[] => {
    const areClocksInDoubt = isInDoubt(work.createdAt);
    return claimants.filter(
      (task) =>
        matchesOrder(channel, task, work) &&
        isInTime(task, work, deps.clock.now(), computeSlackMs(deps, task, areClocksInDoubt)),
    );
  };
  const claims = works
    .filter(({ upstreamId }) => !known.has(upstreamId))
    .map((work) => [work, new Set(listClaimants(work).map(({ id }) => id))] as const);
  return { channel, claims: new Map(claims) };
}

/** Reads when clocks were wrong. Returns a function that reports whether they may have been at a time since `from`. */
async function readClockDoubts({ areClocksTrusted, store }: Deps, from: number): Promise<(time: number) => boolean> {
  if (!areClocksTrusted()) return () => true;
  const doubts = await store.listClockDoubts(from - DOUBT_MS);
  return (time) => doubts.some((at) => Math.abs(at - time) <= DOUBT_MS);
}

async function listAllWithAdmission(
  { store }: Deps,
  admission: 'submitting' | 'unknown' | 'waiting',
): Promise<readonly Task[]> {
  const tasks: Task[] = [];
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const more = await store.listWithAdmission(admission, { limit: PAGE, after: tasks.at(-1)?.id ?? '' });
    tasks.push(...more);
    if (more.length < PAGE) break;
  }
  return tasks;
}

async function adoptOrRaise(
  deps: Deps,
  task: Task,
  { channel, claims }: Search,
  hadNoHold: HadNoHold,
): Promise<number> {
  const now = deps.clock.now();
  const fitting = [...(claims ?? [])].filter(
    ([work, claimants]) =>
      claimants.has(task.id) && isInTime(task, work, now, CLOCK_SLACK_MS) && !isClockSet(task, now),
  );
  const only = fitting.length === 1 && fitting[0]?.[1].size === 1 ? fitting[0][0] : undefined;
  if (
    channel !== undefined &&
    only !== undefined &&
    (await deps.store.adopt(task.id, only.upstreamId, deps.clock.now()))
  ) {
    await deps.store.resolve(task.id, { ...RESOLVED_BY_SERVICE, at: deps.clock.now() });
    deps.log.info(
      { taskId: task.id, channel: channel.settings.id },
      'the list of the upstream holds the work of a lost answer',
    );
    deps.wake.polls(channel.settings.id);
    return 1;
  }
  if (deps.clock.now() - task.updatedAt > computeSearchMs(channel)) {
    if (await hadNoHold(task.id)) {
      const at = deps.clock.now();
      return (await endTask(deps, task, { state: 'failed', at, failure: INTERRUPTED_FAILURE, causedBy: 'us' })) ? 1 : 0;
    }
    await raiseAttention(
      deps,
      task,
      'unknown_outcome',
      'the answer to the submission was lost, and ' +
        (claims === undefined
          ? channel?.canFind === true
            ? UNFOUND
            : UNLISTED
          : (FOUND[Math.min(fitting.length, 2)] ?? '')),
    );
  }
  return 0;
}

const UNFOUND = 'the upstream cannot say yet whether it has the work';
const UNLISTED = 'the list of the upstream cannot be read';
const FOUND = [
  'no work at the upstream matches',
  'the work at the upstream that matches could belong to another task',
  'more than one piece of work at the upstream matches',
];

/** The time by which the work of a task may differ from the times of the task. */
function computeSlackMs({ clock }: Deps, task: Task, areClocksInDoubt: boolean): number {
  return areClocksInDoubt || isClockSet(task, clock.now()) ? SET_CLOCK_MS : CLOCK_SLACK_MS;
}

/** Reports whether the work matches the order of the task. */
function matchesOrder({ settings }: Channel, { order }: Task, work: ListedWork): boolean {
  return (
    work.kind === order.kind &&
    work.model === settings.models[order.model] &&
    (order.duration === undefined || work.duration === order.duration) &&
    (order.resolution === undefined || sameResolution(order.resolution, work.resolution)) &&
    sameRatio(order.ratio, work.ratio)
  );
}

/**
 * Reports whether the times of a task contradict each other, because a clock was set. The time in an id never goes back
 * within a process.
 */
function isClockSet({ id, createdAt, updatedAt }: Task, now: number): boolean {
  const madeAt = readIdTime(id) ?? createdAt;
  return (
    Math.abs(madeAt - createdAt) > CLOCK_SLACK_MS ||
    updatedAt < createdAt ||
    Math.max(createdAt, updatedAt) > now + CLOCK_SLACK_MS
  );
}

/** Reports whether the work was created between the begin and the end of the submission, give or take `slackMs`. */
function isInTime(task: Task, work: ListedWork, now: number, slackMs: number): boolean {
  const until = task.admission === 'unknown' ? task.updatedAt : now;
  return work.createdAt >= task.createdAt - slackMs && work.createdAt <= until + slackMs;
}

/** Some upstreams list `768p` for an order of `768P`. */
function sameResolution(asked: string, shown: string | undefined): boolean {
  return asked.toLowerCase() === shown?.toLowerCase();
}

/** Upstreams list the actual ratio for an order of `adaptive`. */
function sameRatio(asked: string | undefined, shown: string | undefined): boolean {
  return asked === undefined || shown === undefined || asked === 'adaptive' || asked === shown;
}
