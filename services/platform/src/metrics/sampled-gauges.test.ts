import { expect, test } from '@jest/globals';
import { silentLog } from '../log.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import type { FakeClock } from '../../testing/fake-clock.ts';
import { newMetrics } from './metrics.ts';
import type { Metrics } from './metrics.ts';
import { gaugeSampler } from './sampled-gauges.ts';
import type { Point } from './sampled-gauges.ts';

const GAUGE = { name: 'waiting', help: 'How many wait', labelNames: ['queue'] };
const one = (value: number): (readonly Point[])[] => [[{ labels: ['a'], value }]];

interface Sampled {
  readonly clock: FakeClock;
  /** The number of errors after a scrape, and the lines of the gauge. */
  scrape(): Promise<[errors: number, ...lines: string[]]>;
}

function sampled(read: () => Promise<readonly (readonly Point[])[]>): Sampled {
  const clock = fakeClock();
  const metrics = newMetrics(false, clock);
  let errors = 0;
  const counter = { labels: () => ({ inc: () => void (errors += 1) }), begin: () => undefined };
  const counted: Metrics = { ...metrics, counter: () => counter };
  gaugeSampler(counted, { service: 's', clock, log: silentLog }).add([GAUGE], read);
  return {
    clock,
    scrape: async () => {
      const lines = (await metrics.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
      return [errors, ...lines];
    },
  };
}

test('a scrape shows what the source says, and asks it at most once in ten seconds', async () => {
  let reads = 0;
  const { clock, scrape } = sampled(async () => one((reads += 1)));

  expect(await scrape()).toEqual([0, 'waiting{queue="a"} 1']);
  await clock.advance(9_999);
  expect(await scrape()).toEqual([0, 'waiting{queue="a"} 1']);
  await clock.advance(1);
  expect(await scrape()).toEqual([0, 'waiting{queue="a"} 2']);
});

test('two scrapes at once cause one read', async () => {
  let reads = 0;
  const { scrape } = sampled(async () => one((reads += 1)));

  await Promise.all([scrape(), scrape()]);

  expect(reads).toBe(1);
});

test('a source that never answers does not hold a scrape: the gauge is absent, and the errors rise', async () => {
  let reads = 0;
  const { clock, scrape } = sampled(() => {
    reads += 1;
    return new Promise(() => undefined);
  });

  for (const count of [1, 2]) {
    const scraping = scrape();
    await clock.advance(500);
    expect(await scraping).toEqual([count]);
  }
  expect(reads).toBe(1);
});

test('a source that fails leaves the gauge absent until it answers again', async () => {
  let isAway = false;
  const { clock, scrape } = sampled(async () => {
    if (isAway) throw new Error('away');
    return one(7);
  });
  expect(await scrape()).toEqual([0, 'waiting{queue="a"} 7']);

  isAway = true;
  await clock.advance(10_000);
  expect(await scrape()).toEqual([1]);
  isAway = false;
  expect(await scrape()).toEqual([1, 'waiting{queue="a"} 7']);
});

test('a slow source delays a scrape by no more than a moment, and an old value is shown for half a minute', async () => {
  const answers = [Promise.resolve(one(1)), new Promise<never>(() => undefined)];
  const { clock, scrape } = sampled(() => answers.shift()!);
  expect(await scrape()).toEqual([0, 'waiting{queue="a"} 1']);
  await clock.advance(20_000);

  const soon = scrape();
  await clock.advance(15);
  expect(await soon).toEqual([0, 'waiting{queue="a"} 1']);
  await clock.advance(10_000);
  const late = scrape();
  await clock.advance(500);
  expect(await late).toEqual([1]);
});

test('a value that is no longer there is no longer shown', async () => {
  const answers = [one(1), [[]]];
  const { clock, scrape } = sampled(async () => answers.shift()!);
  expect(await scrape()).toContain('waiting{queue="a"} 1');

  await clock.advance(10_000);

  expect(await scrape()).toEqual([0]);
});
