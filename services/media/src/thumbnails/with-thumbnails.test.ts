import { expect, test } from '@jest/globals';
import { withThumbnails } from './with-thumbnails.ts';

test.each([
  [1, 1],
  [4, 4],
  [5, 4],
  [50, 4],
])('of %i concurrent results, %i get their thumbnails after the last ingest', async (count, drawnMax) => {
  const drawn: number[] = [];
  const gates = Array.from({ length: count }, () => Promise.withResolvers<number>());
  const ingest = withThumbnails(
    (order: number) => gates[order]!.promise,
    async (result) => void drawn.push(result),
  );
  const results = gates.map((_, order) => ingest(order));
  for (const [order, { resolve }] of gates.entries()) {
    resolve(order);
    await results[order];
  }

  expect(drawn).toEqual(Array.from({ length: drawnMax }, (_, index) => count - drawnMax + index));
});

test('a result does not wait for its thumbnail, and a failed thumbnail does not affect it', async () => {
  const never = new Promise<never>(() => undefined);

  expect(
    await withThumbnails(
      async () => 'a result',
      () => never,
    )('an order'),
  ).toBe('a result');
  expect(
    await withThumbnails(
      async () => 'a result',
      () => Promise.reject(new Error('no picture')),
    )('an order'),
  ).toBe('a result');
});
