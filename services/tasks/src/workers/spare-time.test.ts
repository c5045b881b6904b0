import { describe, expect, test } from '@jest/globals';
import { spareTime } from './spare-time.ts';

/** Asks after each of these steps, in which the process was busy for this share of the time. */
function asked(steps: readonly (readonly [ms: number, utilization: number])[]): readonly boolean[] {
  let [now, busy] = [0, 0];
  const spare = spareTime({ now: () => now }, () => busy);
  return steps.map(([ms, utilization]) => {
    now += ms;
    busy = utilization;
    return spare.mayBegin();
  });
}

describe('work that can wait', () => {
  test('begins at once in a process with time to spare', () => {
    expect(asked([[0, 0]])).toEqual([true]);
    expect(asked([[100, 0.6]])).toEqual([true]);
  });

  test('waits while the process is busy, and begins when it no longer is', () => {
    expect(
      asked([
        [100, 0.9],
        [500, 1],
        [500, 0.3],
      ]),
    ).toEqual([false, false, true]);
  });

  test('waits for three seconds at most, each time', () => {
    expect(
      asked([
        [100, 1],
        [2900, 1],
        [100, 1],
        [100, 1],
        [2900, 1],
        [100, 1],
      ]),
    ).toEqual([false, false, true, false, false, true]);
  });

  test('is not judged by less than a tenth of a second', () => {
    expect(
      asked([
        [100, 0.2],
        [50, 1],
        [50, 1],
      ]),
    ).toEqual([true, true, false]);
  });
});
