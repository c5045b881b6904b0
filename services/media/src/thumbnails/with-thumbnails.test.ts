import { expect, test } from '@jest/globals';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { withThumbnails } from './thumbnails.ts';

test.each([
  [1, 1],
  [4, 4],
  [5, 3],
  [50, 0],
])('of %i concurrent results, %i get their thumbnails', async (count, drawnMax) => {
  const drawn: number[] = [];
  const gates = Array.from({ length: count }, () => Promise.withResolvers<number>());
  const ingest = withThumbnails(
    fakeClock(),
    (order: number) => gates[order]!.promise,
    async (result) => void drawn.push(result),
  );
  const results = gates.map((_, order) => ingest(order));
  for (const [order, { resolve }] of gates.entries()) {
    resolve(order);
    await results[order];
  }

  expect(drawn).toHaveLength(drawnMax);
});

test.each([
  [4, 40, 40],
  [3, 30, 30],
  [5, 40, 4],
  [100, 1000, 4],
])('of results at %i a second, %i in all, %i get their thumbnails', async (rate, count, drawnMax) => {
  const clock = fakeClock();
  let drawn = 0;
  const ingest = withThumbnails(
    clock,
    async () => undefined,
    async () => void (drawn += 1),
  );
  for (let order = 0; order < count; order += 1) {
    await ingest(order);
    await clock.advance(1000 / rate);
  }

  expect(drawn).toBe(drawnMax);
});

test('a result does not wait for its thumbnail, and a failed thumbnail does not affect it', async () => {
  const never = new Promise<never>(() => undefined);

  expect(
    await withThumbnails(
      fakeClock(),
      async () => 'a result',
      () => never,
    )('an order'),
  ).toBe('a result');
  expect(
    await withThumbnails(
      fakeClock(),
      async () => 'a result',
      () => Promise.reject(new Error('no picture')),
    )('an order'),
  ).toBe('a result');
});
