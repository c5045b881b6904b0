import { LRUCache } from 'lru-cache';
import type { Clock } from '@reelgate/platform/clock';
import { judge, judgeAll, findWindow } from '../domain/sliding-window.ts';
import type { RateCounters } from './rate-counters.ts';

/** Beyond this number of keys, the least recently used key is dropped. */
const KEYS_MAX = 100_000;

interface KeyCounts {
  readonly index: number;
  readonly previous: number;
  readonly current: number;
}

/** The rate counters of a single process. */
export function localRateCounters(clock: Clock): RateCounters {
  // grows with its keys; by `max` alone it would take the memory of all of them at the start
  const counted = new LRUCache<string, KeyCounts>({ maxSize: KEYS_MAX, sizeCalculation: () => 1 });
  return {
    take: (key, limit, makers = []) => {
      const { index, elapsedMs } = findWindow(clock.now());
      const before = carryOver(counted.get(key), index);
      const makersBefore = makers.map((maker) => carryOver(counted.get(maker.key), index));
      const verdict = judgeAll([
        judge({ ...before, elapsedMs }, limit),
        ...makersBefore.map((counts, at) => judge({ ...counts, elapsedMs }, makers[at]?.limit ?? 0, true)),
      ]);
      if (!verdict.allowed) return verdict;
      counted.set(key, { ...before, current: before.current + 1 });
      for (const [at, counts] of makersBefore.entries())
        counted.set(makers[at]?.key ?? '', { ...counts, current: counts.current + 1 });
      return verdict;
    },
    close: async () => undefined,
  };
}

function carryOver(last: KeyCounts | undefined, index: number): KeyCounts {
  if (last?.index === index) return last;
  return { index, previous: last?.index === index - 1 ? last.current : 0, current: 0 };
}
