import { describe, expect, test } from '@jest/globals';
import type { Grade } from '../../../console/api/operator-now.ts';
import { gradeRate } from './grade-rate.ts';
import type { RateState, Share } from './grade-rate.ts';

const LIMITS = { warn: 0.05, fail: 0.25 };
const ORDER: readonly Grade[] = ['ok', 'warn', 'fail'];

function share(text: string): Share {
  const [bad = 0, total = 0] = text.split('/').map(Number);
  return { bad, total };
}

test.each<[what: string, short: string, long: string, Grade, RateState]>([
  ['nothing happened', '0/0', '0/0', 'ok', 'fine'],
  ['all is well', '0/20', '0/100', 'ok', 'fine'],
  ['the only create of a night was refused', '1/1', '1/1', 'warn', 'faulty'],
  ['it was refused some minutes ago, and none has come since', '0/0', '1/1', 'warn', 'quiet'],
  ['it was refused, and some were accepted since', '0/5', '1/6', 'warn', 'recovering'],
  ['both creates of a night were refused', '2/2', '2/2', 'warn', 'faulty'],
  ['three of three were refused', '3/3', '3/3', 'fail', 'faulty'],
  ['few come, and each is refused', '1/1', '3/3', 'fail', 'faulty'],
  ['one of many was refused', '1/20', '1/100', 'ok', 'fine'],
  ['two of many were refused', '2/20', '2/100', 'warn', 'faulty'],
  ['a quarter is refused now', '5/20', '5/100', 'fail', 'faulty'],
  ['a little less than a quarter is refused now', '5/21', '5/100', 'warn', 'faulty'],
  ['a small fault lasts', '1/20', '6/100', 'warn', 'faulty'],
  ['a small fault lasts, with a pause now', '0/20', '6/100', 'warn', 'recovering'],
  ['all was refused for a minute, and all is well for two', '0/20', '10/100', 'warn', 'recovering'],
  ['everything before the last two minutes was refused', '0/20', '80/100', 'warn', 'recovering'],
  ['everything was refused, and now nothing comes', '0/0', '80/80', 'warn', 'quiet'],
  ['what was refused is a small part by now', '0/20', '4/100', 'ok', 'fine'],
])('%s: %s in two minutes and %s in ten is %s, %s', (_what, short, long, grade, state) => {
  expect(gradeRate({ short: share(short), long: share(long) }, LIMITS)).toEqual({ grade, state });
});

describe('for every small pair of windows', () => {
  const upTo = (most: number): number[] => Array.from({ length: most + 1 }, (_, value) => value);
  /** All pairs in which the long window holds the short one. */
  const pairs = upTo(8).flatMap((total) =>
    upTo(total).flatMap((bad) =>
      upTo(8).flatMap((older) =>
        upTo(older).map((olderBad) => ({
          short: { bad, total },
          long: { bad: bad + olderBad, total: total + older },
        })),
      ),
    ),
  );
  const rank = (windows: Parameters<typeof gradeRate>[0]): number => ORDER.indexOf(gradeRate(windows, LIMITS).grade);

  test('a worse short window gives no better grade', () => {
    const better = pairs.filter(({ short, long }) => {
      if (short.bad === short.total) return false;
      const worse = { short: { ...short, bad: short.bad + 1 }, long: { ...long, bad: long.bad + 1 } };
      return rank(worse) < rank({ short, long });
    });
    expect([pairs.length > 1000, better]).toEqual([true, []]);
  });

  test('one more bad event gives no better grade', () => {
    const more = ({ bad, total }: Share): Share => ({ bad: bad + 1, total: total + 1 });
    const better = pairs.filter(
      ({ short, long }) => rank({ short: more(short), long: more(long) }) < rank({ short, long }),
    );
    expect(better).toEqual([]);
  });

  test('the past alone is never a fault', () => {
    const faults = pairs.filter(({ short, long }) => short.bad === 0 && rank({ short, long }) === 2);
    expect(faults).toEqual([]);
  });
});
