import type { Clock } from '../clock.ts';

export const WINDOW_MS = 60_000;
/** All takes within this time are kept as one entry, so a log has a bounded size. */
export const SECOND_MS = 1000;

/** The takes of one second. All of them count until a minute after the last, so no minute exceeds a limit. */
export interface Second {
  readonly count: number;
  readonly lastAt: number;
}

/** The takes of the last minute. */
export interface WindowLog {
  used(): number;
  /** `at`: an earlier time; such takes are added before all others, the oldest first. Default: now. */
  add(count: number, at?: number): void;
  /** Milliseconds until at most `most` of it are left. */
  waitMs(most: number): number;
  /**
   * Milliseconds to leave between takes from now on, so that each of the next minutes has at most `most` and none of its
   * takes waits for the others. After many takes at once it is longer than a minute divided by `most`.
   */
  paceMs(most: number): number;
  /** Corrects the sum: more counts from now on, and of less the oldest is dropped. */
  learn(used: number): void;
  /** By second, the oldest first. */
  seconds(): ReadonlyMap<number, Second>;
  /** The time of the log, which never goes back. */
  time(): number;
}

export function newWindowLog(clock: Clock): WindowLog {
  /** In the order of insertion, so the oldest is the first. */
  const seconds = new Map<number, Second>();
  const time = steadyTime(clock);
  let total = 0;
  const remove = (key: number, { count, lastAt }: Second, removed: number): void => {
    if (removed < count) seconds.set(key, { count: count - removed, lastAt });
    else seconds.delete(key);
    total -= removed;
  };
  const current = (): number => {
    const now = time();
    for (const [key, second] of seconds) {
      if (second.lastAt + WINDOW_MS > now) break;
      remove(key, second, second.count);
    }
    return now;
  };
  const add = (count: number, at = Infinity): void => {
    const lastAt = Math.min(at, current());
    const key = Math.floor(lastAt / SECOND_MS);
    seconds.set(key, { count: (seconds.get(key)?.count ?? 0) + count, lastAt });
    total += count;
  };
  return {
    add,
    time,
    used: () => {
      current();
      return total;
    },
    waitMs: (most) => {
      const now = current();
      let left = total;
      let end = now;
      for (const { count, lastAt } of seconds.values()) {
        if (left <= most) break;
        left -= count;
        end = lastAt + WINDOW_MS;
      }
      return end - now;
    },
    paceMs: (most) => {
      const now = current();
      let free = Math.max(0, most - total);
      let paceMs = WINDOW_MS / most;
      for (const { count, lastAt } of seconds.values()) {
        paceMs = Math.max(paceMs, (lastAt + WINDOW_MS - now) / (free + 1));
        free += count;
      }
      return paceMs;
    },
    learn: (used) => {
      current();
      if (used > total) add(used - total);
      for (const [key, second] of seconds) {
        if (total <= used) break;
        remove(key, second, Math.min(second.count, total - used));
      }
    },
    seconds: () => {
      current();
      return seconds;
    },
  };
}

/** If the clock is set back, this time goes on from the latest that it had. So what was taken ends after a minute. */
function steadyTime(clock: Clock): () => number {
  let ahead = 0;
  let latest = -Infinity;
  return () => {
    const now = clock.now() + ahead;
    if (now < latest) ahead += latest - now;
    latest = Math.max(now, latest);
    return latest;
  };
}
