import { isRecent } from '../clock.ts';
import type { Clock } from '../clock.ts';

/** Reports whether a part can do its own work. That depends on its stores, and not on its peers. */
export type ReadyCheck = () => Promise<boolean>;

/** Probes, scrapes and callers share one check in this time. */
const FRESH_MS = 1000;
const CHECK_MS_MAX = 3000;

/** The ability of a program to work, and the moment from which it accepts no new work. */
export interface Readiness {
  readonly isReady: ReadyCheck;
  /** Aborted when the program begins to stop. */
  readonly stopping: AbortSignal;
}

export const ALWAYS_READY: Readiness = { isReady: async () => true, stopping: new AbortController().signal };

/** Shares a check, so that it is cheap however often it is called. A check that fails or hangs counts as not ready. */
export function shareCheck(check: ReadyCheck, clock: Clock): ReadyCheck {
  let last: { readonly at: number; readonly answer: Promise<boolean> } | undefined;
  return () => {
    if (last === undefined || !isRecent(clock, last.at, FRESH_MS))
      last = { at: clock.now(), answer: checkInTime(check, clock) };
    return last.answer;
  };
}

async function checkInTime(check: ReadyCheck, clock: Clock): Promise<boolean> {
  const done = new AbortController();
  const late = clock.sleep(CHECK_MS_MAX, done.signal).then(() => false);
  try {
    return await Promise.race([(async () => check())().catch(() => false), late]);
  } finally {
    done.abort();
  }
}
