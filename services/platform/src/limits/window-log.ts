import type { Clock } from '../clock.ts';

export const WINDOW_MS = 60_000;
/** All takes within this time are kept as one entry, so a log has a bounded size. */
export const SECOND_MS = 1000;

/** The takes of one second. All of them count until a minute after the last, so no minute exceeds a limit. */
export interface Second {
  readonly count: number;
  readonly lastAt: number;
}

/**
 * The takes of the last minute. The log is exact, so that no minute of an upstream has more than its limit, and it costs
 * up to sixty entries for each peer. The gateway limits a hundred thousand tokens, so it counts in two
 * weighted numbers for each (`domain/sliding-window`). They are an estimate, from which neither a pace nor the part of
 * another replica can be computed.
 */
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

/** Takes of one second. */
export interface Takes {
  readonly key: number;
  readonly count: number;
  /** Milliseconds since the last of them. */
  readonly ageMs: number;
}

/** The calls that this replica took in the last minute, and the part of them that the shared state has counted. */
export interface OwnTakes {
  addCounted(): void;
  addUncounted(): void;
  uncounted(): readonly Takes[];
  /** The shared state has counted these now. */
  counted(takes: readonly Takes[]): void;
  /** The shared state has lost all that it had counted. */
  lost(): void;
}

export function newOwnTakes(clock: Clock): OwnTakes {
  const log = newWindowLog(clock);
  const counted = new Map<number, number>();
  const count = (key: number, more: number): void => {
    const seconds = log.seconds();
    if (seconds.has(key)) counted.set(key, (counted.get(key) ?? 0) + more);
    for (const old of counted.keys()) if (!seconds.has(old)) counted.delete(old);
  };
  return {
    addCounted: () => {
      log.add(1);
      count([...log.seconds().keys()].at(-1) ?? 0, 1);
    },
    addUncounted: () => log.add(1),
    uncounted: () => {
      const now = log.time();
      return [...log.seconds()].flatMap(([key, { count: all, lastAt }]) => {
        const left = all - (counted.get(key) ?? 0);
        return left > 0 ? [{ key, count: left, ageMs: now - lastAt }] : [];
      });
    },
    counted: (takes) => {
      for (const one of takes) count(one.key, one.count);
    },
    lost: () => counted.clear(),
  };
}
