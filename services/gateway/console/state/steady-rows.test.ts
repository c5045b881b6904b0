import { expect, test } from '@jest/globals';
import { updateInPlace, countNewRows } from './steady-rows.ts';

const rows = (...ids: string[]) => ids.map((id) => ({ id }));
const idOf = ({ id }: { readonly id: string }): string => id;

test('a changed row changes in its place, and one that is gone stays as it was', () => {
  const kept = [
    { id: 'b', state: 'queued' },
    { id: 'a', state: 'queued' },
  ];
  const latest = [
    { id: 'c', state: 'queued' },
    { id: 'b', state: 'completed' },
  ];

  expect(updateInPlace(kept, latest, idOf)).toEqual([
    { id: 'b', state: 'completed' },
    { id: 'a', state: 'queued' },
  ]);
});

test.each([
  ['above the known ones', rows('c', 'b', 'a'), rows('e', 'd', 'c'), 2],
  ['none', rows('b', 'a'), rows('b', 'a'), 0],
  ['a whole page', rows('b', 'a'), rows('d', 'c'), 2],
  ['below, from the next page', rows('c', 'b'), rows('b', 'a'), 0],
])('new rows are counted: %s', (_what, kept, latest, count) => {
  expect(countNewRows(kept, latest, idOf)).toBe(count);
});
