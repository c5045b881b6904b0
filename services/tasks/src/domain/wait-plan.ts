import { isBetterClass } from './lane.ts';
import type { QueueClass } from './lane.ts';

/** The wish of a create for its wait; an absent member: as the token says. */
export interface WaitPreference {
  readonly mode?: 'wait' | 'none' | undefined;
  readonly class?: QueueClass | undefined;
  /** The milliseconds after which a task without a turn fails. */
  readonly startWithinMs?: number | undefined;
  /** The task has no turn before this time. */
  readonly notBefore?: number | undefined;
}

/** The wait of the tasks of a token: the default of its creates, and the bound of their preferences. */
export interface TokenWait {
  /** `own_limit`: for a channel, and while the token is at its limit for one of its own tasks to end. */
  readonly for: 'none' | 'channels' | 'own_limit';
  /** The best class of its tasks. */
  readonly class: QueueClass;
}

/** The wait of a create that must wait. */
export interface WaitPlan {
  /** The best of the token, unless the create prefers a lower one. */
  readonly class: QueueClass;
  readonly waitsForChannel: boolean;
  readonly waitsForOwnLimit: boolean;
  /** Its longest wait, from its begin or from `notBefore`. */
  readonly startWithinMs: number;
  /** It is refused if its turn is expected after this time. Absent if its client named no time. */
  readonly refusedAfterMs?: number | undefined;
  /** Later than now. Absent if its turn may come at once. */
  readonly notBefore?: number | undefined;
}

/** Staged media are kept for eight days, and a task may wait for a day after its time. */
export const SCHEDULE_MS_MAX = 6 * 24 * 3_600_000;

/** A preference that the token does not allow is not applied. */
export function planWait(
  preference: WaitPreference,
  token: TokenWait,
  { longestWaitMs, now }: { readonly longestWaitMs: Readonly<Record<QueueClass, number>>; readonly now: number },
): WaitPlan {
  const { mode, startWithinMs, notBefore } = preference;
  const waits = token.for !== 'none' && mode !== 'none';
  const ofClass =
    preference.class === undefined || isBetterClass(preference.class, token.class) ? token.class : preference.class;
  return {
    class: ofClass,
    waitsForChannel: waits,
    waitsForOwnLimit: waits && token.for === 'own_limit',
    startWithinMs: Math.min(startWithinMs ?? Infinity, longestWaitMs[ofClass]),
    refusedAfterMs: startWithinMs,
    notBefore: waits && notBefore !== undefined && notBefore > now ? notBefore : undefined,
  };
}

/** The members of a preference that a plan follows. Without a plan no create waits. */
export function listApplied(preference: WaitPreference, plan: WaitPlan | undefined): WaitPreference {
  const { mode, class: ofClass, startWithinMs, notBefore } = preference;
  if (plan === undefined) return mode === 'none' ? { mode } : {};
  return {
    ...(mode === (plan.waitsForChannel ? 'wait' : 'none') ? { mode } : {}),
    ...(ofClass === plan.class ? { class: ofClass } : {}),
    ...(startWithinMs === plan.startWithinMs ? { startWithinMs } : {}),
    ...(notBefore !== undefined && notBefore === plan.notBefore ? { notBefore } : {}),
  };
}
