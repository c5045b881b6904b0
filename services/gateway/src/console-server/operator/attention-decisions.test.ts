import { describe, expect, test } from '@jest/globals';
import type { OpenMoney } from '../../clients/attention-client.ts';
import { listDecisions } from './attention-decisions.ts';

const money = (over: Partial<OpenMoney> = {}): OpenMoney => ({
  heldNanos: 400_000_000n,
  currency: 'USD',
  settled: 'not',
  chargedNanos: 0n,
  usageNanos: undefined,
  ...over,
});
const shown = (item: Parameters<typeof listDecisions>[0], of: OpenMoney | undefined): unknown[] =>
  listDecisions(item, of).map(({ resolution, charge, release, refusedBecause, isUnpriced }) => [
    resolution,
    charge?.amount,
    release?.amount,
    refusedBecause ?? isUnpriced,
  ]);
const JOB = 'the call may have taken place, so it cannot be made again';
const DEFERRED = 'the usage is still far above the hold; decide as completed or failed';
const TOO_LARGE = 'the price of the usage is larger than the largest amount';

describe('the decisions over', () => {
  test.each<[string, Parameters<typeof listDecisions>[0], OpenMoney | undefined, unknown[]]>([
    [
      'an unfinished task charge or release the hold, or look again',
      { isJob: false, state: 'in_progress' },
      money(),
      [
        ['completed', '0.4', '0', undefined],
        ['failed', '0', '0.4', undefined],
        ['retry', undefined, undefined, undefined],
      ],
    ],
    [
      'a deferred settlement charge the price of the usage, whatever was held',
      { isJob: false, state: 'completed' },
      money({ settled: 'deferred', usageNanos: 9_000_000_000n }),
      [
        ['completed', '9', '0', undefined],
        ['failed', '0', '0.4', undefined],
        ['retry', undefined, undefined, DEFERRED],
      ],
    ],
    [
      'a deferred settlement with an impossible price leave the release alone',
      { isJob: false, state: 'completed' },
      money({ settled: 'deferred' }),
      [
        ['completed', undefined, undefined, TOO_LARGE],
        ['failed', '0', '0.4', undefined],
        ['retry', undefined, undefined, DEFERRED],
      ],
    ],
    [
      'a task that was charged already move nothing, and cannot be its release',
      { isJob: false, state: 'completed' },
      money({ settled: 'charged' }),
      [
        ['completed', undefined, undefined, undefined],
        ['failed', undefined, undefined, 'the work was charged already; decide as completed'],
        ['retry', undefined, undefined, undefined],
      ],
    ],
    [
      'a task that was released already move nothing, and cannot be its charge',
      { isJob: false, state: 'completed' },
      money({ settled: 'released' }),
      [
        ['completed', undefined, undefined, 'the hold was released already; decide as failed'],
        ['failed', undefined, undefined, undefined],
        ['retry', undefined, undefined, undefined],
      ],
    ],
    [
      'a job charge or release the hold of its call, which is not made again',
      { isJob: true, state: 'failed' },
      money(),
      [
        ['completed', '0.4', '0', undefined],
        ['failed', '0', '0.4', undefined],
        ['retry', undefined, undefined, JOB],
      ],
    ],
    [
      'a job without readable money have no amounts, and it is not called again',
      { isJob: true, state: 'failed' },
      undefined,
      [
        ['completed', undefined, undefined, true],
        ['failed', undefined, undefined, true],
        ['retry', undefined, undefined, JOB],
      ],
    ],
  ])('%s', (_what, item, of, decisions) => {
    expect(shown(item, of)).toEqual(decisions);
  });
});
