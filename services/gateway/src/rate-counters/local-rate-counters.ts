import { LRUCache } from 'lru-cache';
import type { Clock } from '@reelgate/platform/clock';
import { judge, judgeAll, findWindow } from '../domain/sliding-window.ts';
import type { WindowCounts } from '../domain/sliding-window.ts';
import type { RateCounters } from './rate-counters.ts';

/** Beyond this number of keys, the least recently used key is dropped. */
const KEYS_MAX = 100_000;

/**
 * The counts of the latest window of a key and of the two before it. A clock that is set back by less than a window
 * finds its own counts, as in Redis.
 */
interface KeyCounts {
  index: number;
  current: number;
  previous: number;
  older: number;
}

/** The rate counters of a single process. */
export function localRateCounters(clock: Clock): RateCounters {
  // grows with its keys, while `max` alone would take the memory of all of them at the start
  const counted = new LRUCache<string, KeyCounts>({ maxSize: KEYS_MAX, sizeCalculation: () => 1 });
  const findCounts = (key: string, index: number): KeyCounts => {
    const known = counted.get(key);
    if (known !== undefined) return carryOver(known, index);
    const counts = { index, current: 0, previous: 0, older: 0 };
    counted.set(key, counts);
    return counts;
  };
  return {
    take: (key, limit, makers = []) => {
      const { index, elapsedMs } = findWindow(clock.now());
      const own = findCounts(key, index);
      const ofMakers = makers.map((maker) => findCounts(maker.key, index));
      const verdict = judgeAll([
        judge(countWindows(own, index, elapsedMs), limit),
        ...ofMakers.map((counts, at) => judge(countWindows(counts, index, elapsedMs), makers[at]?.limit ?? 0, true)),
      ]);
      if (!verdict.allowed) return verdict;
      addOne(own, index);
      for (const counts of ofMakers) addOne(counts, index);
      return verdict;
    },
    close: async () => undefined,
  };
}

/**
 * Moves the counts on to a window, unless the clock was set back to the one before theirs. They are changed in place: to
 * replace them in the cache costs each request more than the count.
 */
function carryOver(counts: KeyCounts, index: number): KeyCounts {
  const { index: last, current, previous } = counts;
  const ahead = index - last;
  if (ahead === 0 || ahead === -1) return counts;
  counts.index = index;
  counts.current = 0;
  counts.previous = ahead === 1 ? current : 0;
  counts.older = ahead === 1 ? previous : ahead === 2 ? current : 0;
  return counts;
}

function countWindows(
  { index: last, current, previous, older }: KeyCounts,
  index: number,
  elapsedMs: number,
): WindowCounts {
  return last === index ? { current, previous, elapsedMs } : { current: previous, previous: older, elapsedMs };
}

function addOne(counts: KeyCounts, index: number): void {
  if (counts.index === index) counts.current += 1;
  else counts.previous += 1;
}
