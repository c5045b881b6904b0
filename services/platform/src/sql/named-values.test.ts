import { expect, test } from '@jest/globals';
import { buildInsert, buildStatement } from './named-values.ts';

const insert = buildInsert('things', ['id', 'name'], 'ON CONFLICT DO NOTHING');
const rename = buildStatement<'id' | 'name'>(
  (value) => `UPDATE things SET name = ${value('name')} WHERE id = ${value('id')} AND name <> ${value('name')}`,
);

test('an insert has the values in the order of its columns, however the row is written', () => {
  expect(insert({ name: 'a', id: 1 })).toEqual([
    'INSERT INTO things (id, name) VALUES ($1, $2) ON CONFLICT DO NOTHING',
    [1, 'a'],
  ]);
});

test('a name that stands in a statement twice is one parameter', () => {
  expect(rename({ id: 1, name: 'b' })).toEqual(['UPDATE things SET name = $1 WHERE id = $2 AND name <> $1', ['b', 1]]);
});

test('a row that lacks a value does not compile', () => {
  // @ts-expect-error the name is missing
  insert({ id: 1 });
  // @ts-expect-error so it is here
  rename({ id: 1 });
});
