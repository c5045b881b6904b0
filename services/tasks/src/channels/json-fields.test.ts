import { expect, test } from '@jest/globals';
import { readCount, readObject, readText } from './json-fields.ts';

test.each<[unknown, object]>([
  [{ a: 1 }, { a: 1 }],
  [[1], {}],
  [null, {}],
  [undefined, {}],
  ['a', {}],
  [1, {}],
])('%j as an object is %j', (value, expected) => {
  expect(readObject(value)).toEqual(expected);
});

test.each<[unknown, string | undefined]>([
  ['a', 'a'],
  ['', undefined],
  [1, undefined],
  [null, undefined],
])('%j as a text is %j', (value, expected) => {
  expect(readText(value)).toBe(expected);
});

test.each<[unknown, number | undefined]>([
  [0, 0],
  [7, 7],
  [-1, undefined],
  [1.5, undefined],
  [Number.NaN, undefined],
  [2 ** 60, undefined],
  ['7', undefined],
])('%p as a count is %p', (value, expected) => {
  expect(readCount(value)).toBe(expected);
});
