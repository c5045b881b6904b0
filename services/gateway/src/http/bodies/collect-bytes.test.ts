import { expect, test } from '@jest/globals';
import { collectBytes } from './collect-bytes.ts';

const aChunk = (bytes: number, index: number): Buffer => Buffer.alloc(bytes, index);

test.each([
  ['one by one', 100_000, 1],
  ['in small pieces', 1000, 1023],
  ['in large pieces', 20, 65_536],
])('bytes that come %s are collected in their order, in few buffers', (_what, count, bytes) => {
  const collected = collectBytes();
  const chunks = Array.from({ length: count }, (_, index) => aChunk(bytes, index));
  for (const chunk of chunks) collected.add(chunk);

  const list = collected.list();

  expect(Buffer.concat(list).equals(Buffer.concat(chunks))).toBe(true);
  expect(list.length).toBeLessThanOrEqual(Math.max(32, count / 10));
  // what is held is hardly more than what came
  const held = list.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
  expect(held).toBeLessThanOrEqual(2 * count * bytes + 1024);
});

test('a body that comes at once is not copied, and pieces of all sizes keep their order', () => {
  const whole = aChunk(10, 1);
  const one = collectBytes();
  one.add(whole);
  expect(one.list()[0]).toBe(whole);

  const mixed = collectBytes();
  const chunks = [3, 2000, 5, 700, 70_000, 1, 1, 1023, 1024].map(aChunk);
  for (const chunk of chunks) mixed.add(chunk);
  expect(Buffer.concat(mixed.list()).equals(Buffer.concat(chunks))).toBe(true);
});
