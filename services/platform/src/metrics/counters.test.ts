import { expect, test } from '@jest/globals';
import { openMetrics } from './metrics.ts';

test('a tally is shown as a counter of the same numbers would be', async () => {
  const [ours, theirs] = [openMetrics(false), openMetrics(false)];
  const tally = ours.tallies('a_total', 'Some help', ['one', 'two']);
  const counter = theirs.counter('a_total', 'Some help', ['one', 'two']);
  for (const [one, two, count] of [
    ['x', 'y', 1],
    ['x', 'z "quoted"', 2.5],
    ['x', 'y', 3],
  ] as const) {
    tally.of(one, two).add(count);
    counter.inc({ one, two }, count);
  }

  expect(await ours.text()).toBe(await theirs.text());
});

test('a spread is shown as a histogram of the same numbers would be', async () => {
  const [ours, theirs] = [openMetrics(false), openMetrics(false)];
  const spread = ours.spreads('b_seconds', 'Some help', [0.1, 1, 5], ['route']);
  const histogram = theirs.histogram('b_seconds', 'Some help', [0.1, 1, 5], ['route']);
  for (const [route, value] of [
    ['/a', 0.1],
    ['/a', 0.5],
    ['/b', 7],
    ['/a', 5],
  ] as const) {
    spread.of(route).observe(value);
    histogram.observe({ route }, value);
  }

  expect(await ours.text()).toBe(await theirs.text());
});

test('the same name is the same metric, and the wrong number of labels a fault', () => {
  const metrics = openMetrics(false);
  metrics.tallies('a_total', 'Some help', ['one']).of('x').add();

  expect(metrics.tallies('a_total', 'Some help', ['one'])).toBe(metrics.tallies('a_total', 'Some help', ['one']));
  expect(() => metrics.tallies('a_total', 'Some help', ['one']).of('x', 'y')).toThrow('labels');
});

test('a label that is not to be shown takes its metric along', async () => {
  const metrics = openMetrics(false);
  metrics.tallies('a_total', 'Some help', ['secret']).of('x').add();
  metrics.tallies('b_total', 'Some help', ['open']).of('y').add();

  expect(await metrics.text('secret')).not.toContain('a_total');
  expect(await metrics.text('secret')).toContain('b_total{open="y"} 1');
});
