import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { Clock } from '@reelgate/platform/clock';
import { backlogCheck, ok } from '@reelgate/platform/diagnosis/self-checks';
import type { SelfCheck, Verdict } from '@reelgate/platform/diagnosis/self-checks';
import { classifyFailure } from '../domain/failure-cause.ts';
import type { Deps } from '../operations/deps.ts';
import type { BacklogStore, LateTasks, RecentAttempt, SelfCheckStore } from '../store/backlog-store.ts';
import type { PendingJobReader } from '../store/job-store.ts';
import type { WebhookBacklogStore } from '../store/webhook-store.ts';

const MINUTE_MS = 60_000;
const RECENT_MS = 15 * MINUTE_MS;
/** Fewer attempts do not show the state of a channel. */
const ATTEMPTS_MIN = 5;
const REFUSED_SHARE_MAX = 0.2;
const ERROR_SHOWN_MAX = 160;

export interface CheckedStores {
  readonly backlog: BacklogStore;
  readonly checks: SelfCheckStore;
  readonly jobs: PendingJobReader;
  readonly softDeadlineMs: number;
}

/** The checks of this service for an operator. */
export function tasksSelfChecks(deps: Deps, stores: CheckedStores): readonly SelfCheck[] {
  const { store, clock } = deps;
  const { checks, softDeadlineMs } = stores;
  return [
    {
      part: 'attention',
      check: async () => {
        const waiting = await store.listOpenAttention();
        const [oldest] = waiting;
        if (oldest?.since === undefined) return ok('nothing waits for a person');
        const since = timestampDate(oldest.since).toISOString();
        const detail = `${waiting.length} wait for a person, the first since ${since} (${oldest.reason})`;
        return { grade: 'warn', detail, advice: 'reelgate attention list' };
      },
    },
    {
      part: 'late tasks',
      check: async () =>
        describeLate(await checks.lateTasks(clock.now() - softDeadlineMs), clock.now(), softDeadlineMs),
    },
    ...backlogChecks(deps, stores),
    { part: 'attempts', check: async () => judgeRecentAttempts(await checks.attemptsSince(clock.now() - RECENT_MS)) },
  ];
}

/** The queues that are worked off in time as long as all is well. */
function backlogChecks({ channels, clock }: Deps, { backlog, checks, jobs }: CheckedStores): readonly SelfCheck[] {
  return [
    backlogCheck({
      part: 'outbox',
      clock,
      what: 'events',
      warnMs: MINUTE_MS,
      failMs: 10 * MINUTE_MS,
      advice: 'look at the bus: see the line of this process, and its log for failed passes of the outbox',
      read: () => checks.outbox(),
    }),
    backlogCheck({
      part: 'settlement',
      clock,
      what: 'ended tasks',
      warnMs: MINUTE_MS,
      failMs: 5 * MINUTE_MS,
      advice: 'look at billing and its database; the log of tasks names each task that could not be settled',
      read: async () => ({ oldestAt: (await backlog.countUnsettled()).oldest }),
    }),
    backlogCheck({
      part: 'polls',
      clock,
      what: 'due polls',
      warnMs: MINUTE_MS / 2,
      failMs: 5 * MINUTE_MS,
      advice: 'raise limits.polls_per_minute of the channel, or add replicas of tasks',
      read: async () => {
        const since = await backlog.dueSince(
          channels.all().map(({ channel }) => channel.settings.id),
          clock.now(),
        );
        const [oldest] = [...since].toSorted(([, one], [, other]) => one - other);
        return { oldestAt: oldest?.[1], where: oldest === undefined ? undefined : `on channel ${oldest[0]}` };
      },
    }),
    backlogCheck({
      part: 'jobs',
      clock,
      what: 'queued asynchronous calls',
      warnMs: 2 * MINUTE_MS,
      failMs: 10 * MINUTE_MS,
      advice: 'reelgate job list --state queued; add gateways, or raise gateway.async.workers',
      read: async () => {
        const queued = (await jobs.pendingJobs()).find(({ state }) => state === 'queued');
        return { count: queued?.count ?? 0, oldestAt: queued?.oldestAt };
      },
    }),
  ];
}

/** Names the oldest tasks past the soft deadline, long before a person must decide about them. */
function describeLate({ count, isAtLeast, oldest }: LateTasks, now: number, softDeadlineMs: number): Verdict {
  const deadline = `the soft deadline of ${inWords(softDeadlineMs)}`;
  const [first] = oldest;
  if (first === undefined) return ok(`no task is past ${deadline}`);
  const named = oldest.map(({ id, channel, createdAt, isUnknown }) => {
    const where = channel === undefined ? 'no channel yet' : `channel ${channel}`;
    return `${id} (${inWords(now - createdAt)}, ${where}${isUnknown ? ', its submission is unknown' : ''})`;
  });
  return {
    grade: 'warn',
    detail: `past ${deadline}: ${isAtLeast ? 'at least ' : ''}${count}; the oldest: ${named.join(', ')}`,
    advice: `reelgate task show ${first.id}${first.channel === undefined ? '' : `; reelgate channel test ${first.channel}`}`,
  };
}

function inWords(ms: number): string {
  const minutes = Math.floor(ms / MINUTE_MS);
  if (minutes < 2) return `${Math.floor(ms / 1000)} s`;
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`;
}

/**
 * Returns a verdict for each channel with too many failed attempts. Refusals of the order or its content do not speak
 * against a channel, and attempts that were not sent do not count at all. The faults of one account may come from its
 * orders, so they count only if the channel took no order of another account.
 */
function judgeRecentAttempts(recent: readonly RecentAttempt[]): Verdict | readonly Verdict[] {
  const failing = [...Map.groupBy(recent.filter(wasAsked), ({ channel }) => channel)].flatMap(
    ([channel, all]): Verdict[] => {
      const bad = all.filter(isFault);
      if (all.length < ATTEMPTS_MIN || bad.length / all.length <= REFUSED_SHARE_MAX) return [];
      const [account, ...others] = new Set(bad.map(({ accountId }) => accountId));
      const isOfOne = others.length === 0;
      if (isOfOne && all.some(({ accountId, outcome }) => accountId !== account && outcome === 'accepted')) return [];
      const lost = bad.filter(({ outcome }) => outcome === 'unknown').length;
      return [
        {
          grade: lost > 0 ? 'fail' : 'warn',
          detail:
            `channel ${channel}: of ${all.length} attempts in 15 minutes ${bad.length} were not accepted, ` +
            `${isOfOne ? `all of account ${account}, ` : ''}${lost} without an answer; ` +
            `the last one: ${shortenError(bad[0]?.error ?? '')}`,
          advice: `reelgate channel test ${channel}; the upstream's status`,
        },
      ];
    },
  );
  return failing.length > 0 ? failing : ok(`${recent.length} in 15 minutes, no channel stands out`);
}

/** A refusal without a sent request comes from this service: the channel does not fit the order, or has no room. */
function wasAsked({ outcome, fault }: RecentAttempt): boolean {
  return outcome !== 'refused' || (fault !== undefined && fault !== 'unfit');
}

function isFault({ outcome, failureCode }: RecentAttempt): boolean {
  if (outcome !== 'refused' && outcome !== 'unknown') return false;
  return failureCode === undefined || classifyFailure(failureCode) !== 'client';
}

function shortenError(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return line.length <= ERROR_SHOWN_MAX ? line : `${line.slice(0, ERROR_SHOWN_MAX)}…`;
}

/** The checks that clients are notified of the ends of their work in time. */
export function webhookSelfChecks({
  webhooks,
  clock,
}: {
  readonly webhooks: WebhookBacklogStore;
  readonly clock: Clock;
}): readonly SelfCheck[] {
  return [
    backlogCheck({
      part: 'events',
      clock,
      what: 'undispatched events',
      warnMs: MINUTE_MS / 2,
      failMs: 5 * MINUTE_MS,
      advice: 'look at the log of tasks for failed passes of the worker `event dispatch`',
      read: () => webhooks.countUndispatchedEvents(),
    }),
    backlogCheck({
      part: 'webhooks',
      clock,
      what: 'due deliveries',
      warnMs: 2 * MINUTE_MS,
      failMs: 10 * MINUTE_MS,
      advice: 'add replicas of the gateway, whose workers send the deliveries; its log names failed passes',
      read: async () => ({ oldestAt: due((await webhooks.countPendingDeliveries()).oldestDueAt, clock.now()) }),
    }),
  ];
}

/** A delivery that is due later does not wait. */
function due(at: number | undefined, now: number): number | undefined {
  return at === undefined || at > now ? undefined : at;
}
