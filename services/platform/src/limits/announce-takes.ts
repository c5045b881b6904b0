import type { TimeSource } from '../clock.ts';
import { thenMaybe } from '../maybe-promise.ts';
import type { PeerLimits } from './peer-limits.ts';
import { SECOND_MS } from './window-log.ts';

/** A quarter of a second's calls is reported ahead, so that few messages announce many calls. */
const AHEAD = 4;

/** The calls that a process has given a peer in a second, or is about to. */
export interface TakesOfSecond {
  readonly peer: string;
  /** The beginning of the second, in milliseconds since 1970. */
  readonly at: number;
  readonly count: number;
}

/**
 * Wraps limits so that each admitted call is reported before it is sent. A later count of the same second replaces the
 * earlier one.
 */
export function announceTakes<Limits extends PeerLimits>(
  limits: Limits,
  clock: TimeSource,
  announce: (takes: Omit<TakesOfSecond, 'peer'>) => void,
): Limits {
  let [second, count, announced] = [-1, 0, 0];
  const note = (waitMs: number): number => {
    if (waitMs !== 0) return waitMs;
    const now = Math.floor(clock.now() / SECOND_MS);
    if (now !== second) [second, count, announced] = [now, 0, 0];
    count += 1;
    if (count > announced) {
      announced = count + Math.floor(count / AHEAD);
      announce({ at: second * SECOND_MS, count: announced });
    }
    return waitMs;
  };
  return { ...limits, admit: (of) => thenMaybe(limits.admit(of), note) };
}

/** The times of calls that others were given, the oldest first, of at most `most` calls for each second. */
export function listTimes(takes: readonly TakesOfSecond[], most: number): readonly number[] {
  return [...takes]
    .sort((a, b) => a.at - b.at)
    .flatMap(({ at, count }) => Array.from({ length: Math.min(count, most) }, () => at + SECOND_MS - 1));
}
