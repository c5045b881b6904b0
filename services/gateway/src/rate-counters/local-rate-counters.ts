import { LRUCache } from 'lru-cache';
import type { Clock } from '@reelgate/platform/clock';
import { judge, judgeAll, findWindow } from '../domain/sliding-window.ts';
import type { RateCounters } from './rate-counters.ts';

/** Beyond this number of keys, the least recently used key is dropped. */
const KEYS_MAX = 100_000;

/**
 * The counts of the latest window of a key and of the two before it. A clock that is set back by less than a window
 * finds what it counted, as in Redis.
 */
interface KeyCounts {
  readonly index: number;
  readonly current: number;
  readonly previous: number;
  readonly older: number;
}

/** The rate counters of a single process. */
export function localRateCounters(clock: Clock): RateCounters {
  // grows with its keys; by `max` alone it would take the memory of all of them at the start
  const counted = new LRUCache<string, KeyCounts>({ maxSize: KEYS_MAX, sizeCalculation: () => 1 });
  return {
    take: (key, limit, makers = []) => {
      const { index, elapsedMs } = findWindow(clock.now());
      const own = carryOver(counted.get(key), index);
      const ofMakers = makers.map((maker) => carryOver(counted.get(maker.key), index));
      const verdict = judgeAll([
        judge({ ...countWindows(own, index), elapsedMs }, limit),
        ...ofMakers.map((counts, at) =>
          judge({ ...countWindows(counts, index), elapsedMs }, makers[at]?.limit ?? 0, true),
        ),
      ]);
      if (!verdict.allowed) return verdict;
      counted.set(key, addOne(own, index));
      for (const [at, counts] of ofMakers.entries()) counted.set(makers[at]?.key ?? '', addOne(counts, index));
      return verdict;
    },
    close: async () => undefined,
  };
}

/** The counts at a window: the latest one, or the one before it if the clock was set back. */
function carryOver(last: KeyCounts | undefined, index: number): KeyCounts {
  const ahead = index - (last?.index ?? -Infinity);
  if (last === undefined || ahead > 2 || ahead < -1) return { index, current: 0, previous: 0, older: 0 };
  if (ahead === 1) return { index, current: 0, previous: last.current, older: last.previous };
  if (ahead === 2) return { index, current: 0, previous: 0, older: last.current };
  return last;
}

function countWindows(counts: KeyCounts, index: number): { readonly current: number; readonly previous: number } {
  return counts.index === index ? counts : { current: counts.previous, previous: counts.older };
}

function addOne(counts: KeyCounts, index: number): KeyCounts {
  return counts.index === index
    ? { ...counts, current: counts.current + 1 }
    : { ...counts, previous: counts.previous + 1 };
}
