import type { Sleeper, TimeSource } from '../clock.ts';
import { describeError } from '../lifecycle/when-reachable.ts';

/** `warn`: it works, and a person should know. `fail`: it does not work. */
export type Grade = 'ok' | 'warn' | 'fail';

/** The outcome of a check, in words without secrets. */
export interface Verdict {
  readonly grade: Grade;
  readonly detail: string;
  /** The command or the setting that helps. */
  readonly advice?: string | undefined;
}

/** A question that a service asks about itself, such as whether its database answers. */
export interface SelfCheck {
  readonly part: string;
  /** The remedy if the check hangs or fails, undefined if it is not known. */
  readonly advice?: string;
  /** A rejection is a `fail`. */
  readonly check: (signal: AbortSignal) => Promise<Verdict | readonly Verdict[]>;
}

export interface Finding extends Verdict {
  readonly part: string;
}

/** The longest time of one check. */
export const CHECK_MS_MAX = 5000;

export function ok(detail: string): Verdict {
  return { grade: 'ok', detail };
}

/**
 * Runs all checks concurrently, each for `checkMsMax` at most. A check that throws or hangs has failed, and does not
 * delay the others. The findings are in the order of the checks.
 */
export async function runChecks(
  checks: readonly SelfCheck[],
  clock: Sleeper,
  checkMsMax = CHECK_MS_MAX,
): Promise<readonly Finding[]> {
  const findings = await Promise.all(
    checks.map(async ({ part, check, advice }) => {
      const verdicts = await runCheck({ check, advice }, clock, checkMsMax);
      return [verdicts].flat().map((verdict) => ({ part, ...verdict }));
    }),
  );
  return findings.flat();
}

async function runCheck(
  { check, advice }: { readonly check: SelfCheck['check']; readonly advice: string | undefined },
  clock: Sleeper,
  checkMsMax: number,
): Promise<Verdict | readonly Verdict[]> {
  const [ended, late] = [new AbortController(), new AbortController()];
  const fail = (detail: string): Verdict => ({ grade: 'fail', detail, ...(advice === undefined ? {} : { advice }) });
  const limit = clock.sleep(checkMsMax, ended.signal).then((): Verdict => {
    late.abort();
    return fail(`gave no answer within ${(checkMsMax / 1000).toFixed(1).replace(/\.0$/, '')} s`);
  });
  try {
    return await Promise.race([check(late.signal).catch((error: unknown) => fail(describeError(error))), limit]);
  } finally {
    ended.abort();
  }
}

/** The checks of a service. A part adds its own where it is opened. */
export interface CheckRegistry {
  add(...checks: readonly SelfCheck[]): void;
}

export interface OpenChecks extends CheckRegistry {
  all(): readonly SelfCheck[];
}

export function newChecks(): OpenChecks {
  const checks: SelfCheck[] = [];
  return { add: (...more) => void checks.push(...more), all: () => [...checks] };
}

/** The number of entries that wait, and the time of the oldest in milliseconds since 1970. */
export interface Backlog {
  /** Undefined if the number is not known. */
  readonly count?: number;
  /** Undefined if the backlog is empty. */
  readonly oldestAt: number | undefined;
  /** The place where the oldest waits, as in `at the host alpha`. */
  readonly where?: string | undefined;
}

interface BacklogOptions {
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
