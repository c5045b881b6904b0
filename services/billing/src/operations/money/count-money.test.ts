import { expect, test } from '@jest/globals';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { MoneyHour } from '../../store/money/money-store.ts';
import { moneyCounter } from './count-money.ts';

const PLACES_MAX = 20_000;
const HOUR_MS = 3_600_000;

/** A counter, and the rows of its latest write. */
function openCounter() {
  const clock = fakeClock(0);
  const writes: (readonly MoneyHour[])[] = [];
  const store = {
    write: (hours: readonly MoneyHour[]) => {
      writes.push(hours);
      return Promise.resolve();
    },
  };
  return {
    clock,
    counter: moneyCounter(store, { clock, process: 'one' }),
    readLast: () => writes.at(-1) ?? [],
    writes,
  };
}

const placeOf = (channel: number) => ({ channel: String(channel), priceKey: 'fast', currency: 'USD' });

test('a place beyond the bound is not counted, and those before it are counted further', async () => {
  const { counter, readLast } = openCounter();
  for (let channel = 0; channel < PLACES_MAX; channel += 1) counter.overrun(placeOf(channel), 1n);

  counter.overrun(placeOf(PLACES_MAX), 1n);
  counter.overrun(placeOf(0), 2n);
  await counter.write();

  expect(readLast()).toHaveLength(PLACES_MAX);
  expect(readLast()[0]).toMatchObject({ channel: '0', overruns: 2n, overrun: 3n });
});

test('a written hour is kept until it is over, then a new place takes its room', async () => {
  const { clock, counter, readLast, writes } = openCounter();
  counter.overrun(placeOf(0), 1n);
  await counter.write();
  counter.overrun(placeOf(0), 1n);
  await counter.write();
  expect(readLast()).toMatchObject([{ overruns: 2n }]);

  await clock.advance(HOUR_MS);
  await counter.write();
  expect(writes).toHaveLength(2);
  for (let channel = 0; channel < PLACES_MAX; channel += 1) counter.overrun(placeOf(channel), 1n);
  await counter.write();

  expect(readLast()).toHaveLength(PLACES_MAX);
});
