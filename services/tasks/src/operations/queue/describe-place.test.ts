import { describe, expect, test } from '@jest/globals';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { nameLane } from '../../domain/lane.ts';
import type { FoundPlace } from '../../store/queue-store.ts';
import { toPlaceView } from './describe-place.ts';
import { openKnownLanes } from '../lanes/known-lanes.ts';
import { openLaneRates } from '../lanes/lane-rates.ts';

const START = Date.UTC(2026, 0, 1);
const LANE = nameLane({ kind: 'generation', model: 'fast', without: [], class: 'batch' });

/** The view of a place with the changes of the test, in a lane with 6 turns in a minute. */
function viewPlace(changes: Partial<FoundPlace>) {
  const clock = fakeClock(START);
  const rates = openLaneRates(clock);
  for (let turn = 0; turn < 2; turn += 1) rates.record(LANE);
  const queue = { limits: undefined, lanes: openKnownLanes(() => undefined), rates };
  return toPlaceView(
    { clock, queue },
    {
      ...{ taskId: 'task_1', lane: LANE, accountId: 'acme', tokenId: 'token_1', cost: 5, since: START - 7 },
      ...{ startBy: START + 9, position: 1, isReady: true, isHeld: false, weight: 1, weights: 2 },
      ...changes,
    },
  );
}

describe('the place of a task as its owner sees it', () => {
  test('has its class, its times and an estimate from the rate of its lane', () => {
    expect(viewPlace({})).toEqual({
      position: 1,
      estimatedStartAt: START + 40_000,
      since: START - 7,
      startBy: START + 9,
      class: 'batch',
      waitsFor: 'capacity',
    });
  });

  test.each<[string, Partial<FoundPlace>, object]>([
    ['whose token is at its limit waits for it', { isReady: false }, { waitsFor: 'own_limit' }],
    ['that an operator holds waits for capacity', { isHeld: true }, { waitsFor: 'capacity' }],
    ['in a lane without turns waits for capacity', { lane: LANE.replace('fast', 'slow') }, { waitsFor: 'capacity' }],
  ])('%s, and has no estimate', (_which, changes, seen) => {
    expect(viewPlace(changes)).toMatchObject({ ...seen, estimatedStartAt: undefined });
  });

  test('before its time waits for it, in the class of its lane from then on', () => {
    expect(viewPlace({ lane: 'scheduled', nextLane: LANE, notBefore: START + 5 })).toMatchObject({
      waitsFor: 'scheduled',
      estimatedStartAt: START + 5,
      class: 'batch',
    });
  });
});
