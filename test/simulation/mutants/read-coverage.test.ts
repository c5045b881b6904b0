import { expect, test } from '@jest/globals';
import { isReached, listUnreached } from './read-coverage.ts';

const range = (startOffset: number, endOffset: number, count: number) => ({ startOffset, endOffset, count });

test.each<[string, Parameters<typeof listUnreached>[0], ReturnType<typeof listUnreached>]>([
  ['all ran', [range(0, 9, 1)], []],
  ['a part did not run', [range(0, 9, 1), range(3, 5, 0)], [[3, 5]]],
  [
    'the inner range counts',
    [range(4, 5, 2), range(3, 6, 0), range(0, 9, 1)],
    [
      [3, 4],
      [5, 6],
    ],
  ],
])('%s', (_what, ranges, unreached) => {
  expect(listUnreached(ranges)).toEqual(unreached);
});

test.each<[string, string, number, boolean]>([
  ['before a part that did not run', 'a.ts', 2, true],
  ['its first character', 'a.ts', 3, false],
  ['the one after its last', 'a.ts', 5, true],
  ['a file that was not loaded', 'b.ts', 0, false],
])('%s', (_place, file, at, isRun) => {
  expect(isReached({ 'a.ts': [[3, 5]] }, file, at)).toBe(isRun);
});
