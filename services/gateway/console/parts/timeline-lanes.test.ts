import { describe, expect, test } from '@jest/globals';
import type { TimelineEntry } from '../api/task.ts';
import { buildBar, buildLines } from './timeline-chart.tsx';

const at = (step: TimelineEntry['step'], from: number, to?: number): TimelineEntry => ({
  lane: step === 'webhook' ? 'client' : step === 'held' ? 'money' : 'service',
  step,
  from,
  ...(to === undefined ? {} : { to }),
});
const drawn = (entries: readonly TimelineEntry[], now: number) =>
  buildBar(entries, now)?.lanes.map(({ lane, spans }) => [lane, ...spans.map(({ x, width }) => [x, width])]);

describe('the bar', () => {
  test('has a lane for each party, in proportion to the time', () => {
    expect(drawn([at('created', 0, 0), at('submitted', 0, 25), at('held', 0, 100)], 100)).toEqual([
      ['service', [0, 6], [0, 250]],
      ['money', [0, 1000]],
    ]);
  });

  test('an unfinished step reaches to the clock of the service', () => {
    expect(drawn([at('submitted', 0, 50), at('in_progress', 50)], 200)).toEqual([['service', [0, 250], [250, 750]]]);
  });

  test('a webhook that is sent days later is left to the list', () => {
    const entries = [at('in_progress', 0, 100), at('webhook', 110, 120), at('webhook', 100_000, 100_010)];

    expect(drawn(entries, 200_000)).toEqual([
      ['service', [0, 833]],
      ['client', [917, 83]],
    ]);
  });

  test('what ends the bar stays within it', () => {
    expect(drawn([at('in_progress', 0, 100), at('completed', 100, 100)], 500)).toEqual([
      ['service', [0, 1000], [994, 6]],
    ]);
  });

  test('is not there without a step', () => {
    expect(buildBar([], 0)).toBeUndefined();
  });
});

describe('gaps of the list', () => {
  const gaps = (entries: readonly TimelineEntry[], now: number) =>
    buildLines(entries, now).flatMap((line) => (line.kind === 'gap' ? [[line.from, line.to]] : []));

  test.each<[string, readonly TimelineEntry[], unknown]>([
    ['ten seconds', [at('created', 0, 0), at('submitted', 10_000, 11_000)], [[0, 10_000]]],
    ['less than ten seconds', [at('created', 0, 0), at('submitted', 9_999, 11_000)], []],
    ['a step that lasts', [at('created', 0, 0), at('queued', 0, 30_000), at('in_progress', 30_000)], []],
    ['a webhook after the end', [at('completed', 0, 0), at('webhook', 60_000, 61_000)], []],
    [
      'money that is held meanwhile',
      [at('created', 0, 0), at('held', 1000), at('submitted', 15_000, 16_000)],
      [[0, 15_000]],
    ],
  ])('after %s', (_what, entries, found) => {
    expect(gaps(entries, 20_000)).toEqual(found);
  });

  test('an unfinished task without a step grows a gap', () => {
    expect(gaps([at('submitted', 0, 1000)], 50_000)).toEqual([[1000, undefined]]);
  });

  test('an ended task does not', () => {
    expect(gaps([at('failed', 1000, 1000)], 50_000)).toEqual([]);
  });
});
