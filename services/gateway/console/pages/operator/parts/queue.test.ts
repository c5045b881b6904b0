import { expect, test } from '@jest/globals';
import type { AttentionRow } from './attention-rows.ts';
import { mergeQueue, moveByKey } from './use-desk.ts';

const rows = (...ids: readonly string[]): AttentionRow[] =>
  ids.map((id) => ({
    id,
    isJob: false,
    since: 0,
    reason: 'overrun',
    detail: '',
    accountId: 'demo',
    model: 'Alpha-H3',
    channel: 'east',
    state: 'queued',
    decisions: [],
  }));

test('entries keep their places when others are decided, and new ones come last', () => {
  const shown = mergeQueue([], rows('a', 'b', 'c'));

  const after = mergeQueue(shown, rows('a', 'c', 'd'));

  expect(after.map(({ row, isDecided }) => [row.id, isDecided])).toEqual([
    ['a', false],
    ['b', true],
    ['c', false],
    ['d', false],
  ]);
});

test('a decided entry that waits again is open again', () => {
  const decided = mergeQueue(mergeQueue([], rows('a')), []);

  expect(mergeQueue(decided, rows('a')).map(({ isDecided }) => isDecided)).toEqual([false]);
});

test.each([
  ['j', -1, 3, 0],
  ['j', 0, 3, 1],
  ['j', 2, 3, 2],
  ['k', 2, 3, 1],
  ['k', 0, 3, 0],
  ['k', -1, 3, 0],
  ['j', 0, 0, undefined],
  ['x', 0, 3, undefined],
])('the key %s at place %i of %i goes to %p', (key, at, count, to) => {
  expect(moveByKey(key, at, count)).toBe(to);
});
