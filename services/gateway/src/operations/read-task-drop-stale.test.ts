import { expect, test } from '@jest/globals';
import { LRUCache } from 'lru-cache';
import { dropStale } from './read-task.ts';

const cacheOf = (...stale: readonly boolean[]): LRUCache<string, { readonly stale: boolean }> => {
  const cache = new LRUCache<string, { readonly stale: boolean }>({ max: 100 });
  for (const [index, each] of stale.entries()) cache.set(String(index), { stale: each });
  return cache;
};
const isStale = ({ stale }: { readonly stale: boolean }): boolean => stale;

test.each<[string, readonly boolean[], readonly string[]]>([
  ['an empty cache stays empty', [], []],
  ['two stale entries go at a time', [true, true, true], ['2']],
  ['an entry that is valid stays', [false], ['0']],
  ['entries after a valid one stay until it is stale', [true, false, true], ['1', '2']],
])('%s', (_what, stale, left) => {
  const cache = cacheOf(...stale);
  dropStale(cache, isStale);

  expect([...cache.keys()].toSorted()).toEqual(left);
});

test('a cache to which stale entries are added does not grow', () => {
  const cache = cacheOf(...Array.from({ length: 50 }, () => true));
  for (let added = 0; added < 100; added += 1) {
    cache.set(`new ${added}`, { stale: true });
    dropStale(cache, isStale);
  }

  expect(cache.size).toBeLessThan(3);
});
