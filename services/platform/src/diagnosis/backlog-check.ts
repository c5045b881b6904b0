import type { TimeSource } from '../clock.ts';
import { ok } from './self-checks.ts';
import type { SelfCheck } from './self-checks.ts';

/** The number of entries that wait, and the time of the oldest in milliseconds since 1970. */
export interface Backlog {
  /** Undefined if the number is not known. */
  readonly count?: number;
  /** Undefined if the backlog is empty. */
  readonly oldestAt: number | undefined;
  /** The place where the oldest waits, as in `at the host alpha`. */
  readonly where?: string | undefined;
}

export interface BacklogOptions {
  readonly part: string;
  readonly clock: TimeSource;
  /** As in `events`. */
  readonly what: string;
  /** From these ages of the oldest entry on. */
  readonly warnMs: number;
  readonly failMs: number;
  readonly advice: string;
  readonly read: () => Promise<Backlog>;
}

/** Creates the check of whether a queue is worked off in time. */
export function backlogCheck({ part, clock, what, warnMs, failMs, advice, read }: BacklogOptions): SelfCheck {
  return {
    part,
    check: async () => {
      const { count, oldestAt, where } = await read();
      if (oldestAt === undefined) return ok(`no ${what} wait`);
      const ageMs = Math.max(0, clock.now() - oldestAt);
      const counted = count === undefined ? what : `${count} ${what}`;
      const age = `${Math.round(ageMs / 1000)} s`;
      const detail = `${counted} wait, the oldest for ${age}${where === undefined ? '' : ` ${where}`}`;
      if (ageMs < warnMs) return ok(detail);
      return { grade: ageMs < failMs ? 'warn' : 'fail', detail, advice };
    },
  };
}
