import { expect, test } from '@jest/globals';
import { openDraws } from './draws.ts';

test('a choice follows from the seed and its name, whatever was drawn before it', () => {
  const [first, second] = [openDraws(7), openDraws(7)];
  second.chance('crash 1');
  second.chance('order 16');

  expect(second.chance('order 17')).toBe(first.chance('order 17'));
  expect(openDraws(8).chance('order 17')).not.toBe(first.chance('order 17'));
});

test('random bytes follow from the seed and the name of their read, whatever was read before', () => {
  const read = (name: string): string => {
    const bytes = Buffer.alloc(16);
    openDraws(7).bytes(() => name)(bytes);
    return bytes.toString('hex');
  };

  expect(read('order-1 bytes 1')).toBe(read('order-1 bytes 1'));
  const all = Array.from({ length: 2000 }, (_none, at) => read(`order-${at % 10} bytes ${at}`));
  expect(new Set(all).size).toBe(all.length);
});

test('choices of similar names are spread evenly', () => {
  const draws = openDraws(1);
  const counts = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
  for (let number = 0; number < 10_000; number += 1) counts[draws.whole(`upstream request ${number}`, 0, 9)]! += 1;

  expect(Math.min(...counts)).toBeGreaterThan(900);
  expect(Math.max(...counts)).toBeLessThan(1100);
});
