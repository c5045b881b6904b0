import { expect, test } from '@jest/globals';
import { byRows, inChunks, inExactChunks } from './multi-row.ts';

const COUNTS = [0, 1, 5, 7, 11, 45, 100, 255, 256, 257, 700];
const items = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const statement = byRows((rows) => `of ${rows}`);

test.each(COUNTS)('%i items come in chunks that statements take, with copies of the last one only', (count) => {
  const chunks = inChunks(items(count));

  for (const chunk of chunks) expect(statement(chunk.length)).toBe(`of ${chunk.length}`);
  expect([...new Set(chunks.flat())]).toEqual(items(count));
});

test.each(COUNTS)('%i items come in exact chunks without copies, in their order', (count) => {
  const chunks = inExactChunks(items(count));

  for (const chunk of chunks) expect(statement(chunk.length)).toBe(`of ${chunk.length}`);
  expect(chunks.flat()).toEqual(items(count));
});

test('no statement takes a number of rows that no chunk has', () => {
  expect(() => statement(5)).toThrow('no statement takes 5 rows');
});
