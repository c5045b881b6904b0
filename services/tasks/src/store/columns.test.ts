import { expect, test } from '@jest/globals';
import { toInsert } from './columns.ts';

test('an insert names the columns of its own row, whatever row the table had before', () => {
  const rows = [{ id: 'a', at: 1 }, { id: 'b', at: 2 }, { at: 3, id: 'c' }, { id: 'd' }, { id: 'e', at: 5 }];

  expect(rows.map((row) => toInsert('moments', row))).toEqual([
    ['INSERT INTO moments (id, at) VALUES ($1, $2) ', ['a', 1]],
    ['INSERT INTO moments (id, at) VALUES ($1, $2) ', ['b', 2]],
    ['INSERT INTO moments (at, id) VALUES ($1, $2) ', [3, 'c']],
    ['INSERT INTO moments (id) VALUES ($1) ', ['d']],
    ['INSERT INTO moments (id, at) VALUES ($1, $2) ', ['e', 5]],
  ]);
});

test('an insert has the end that it is asked for', () => {
  const texts = ['', 'RETURNING id', ''].map((end) => toInsert('moments', { id: 'a' }, end)[0]);

  expect(texts).toEqual([
    'INSERT INTO moments (id) VALUES ($1) ',
    'INSERT INTO moments (id) VALUES ($1) RETURNING id',
    'INSERT INTO moments (id) VALUES ($1) ',
  ]);
});
