import type { LRUCache } from 'lru-cache';

/** More than the one entry that is added at a time, so stale ones become fewer. */
const DROPPED_MAX = 2;

/**
 * Drops the least recently used entries that are stale. Called whenever an entry is added, it keeps a cache as small as
 * what is read; otherwise the cache would grow to its limit with entries that no read uses.
 */
export function dropStale<V extends object>(cache: LRUCache<string, V>, isStale: (value: V) => boolean): void {
  for (let dropped = 0; dropped < DROPPED_MAX; dropped += 1) {
    const { value: key } = cache.rkeys().next();
    const oldest = key === undefined ? undefined : cache.peek(key);
    if (key === undefined || oldest === undefined || !isStale(oldest)) return;
    cache.delete(key);
  }
}
