import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { QueueClass, QueueWait } from '@reelgate/proto/tasks/v1/queue';
import { nameLane } from '../../domain/lane.ts';
import type { FoundPlace } from '../../store/queue-store.ts';
import { toQueuePlace } from './list-queue.ts';
import { newKnownLanes } from '../lanes/known-lanes.ts';
import { newLaneRates } from '../lanes/lane-rates.ts';

const START = Date.UTC(2026, 0, 1);
const LANE = nameLane({ kind: 'generation', model: 'fast', without: [], class: 'batch' });

/** The place with the changes of the test, in a lane with 6 turns in a minute. */
function describePlace(changes: Partial<FoundPlace>) {
  const clock = fakeClock(START);
  const rates = newLaneRates(clock);
  for (let turn = 0; turn < 2; turn += 1) rates.record(LANE);
  const queue = { limits: undefined, lanes: newKnownLanes(() => undefined), rates };
  return toQueuePlace(
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
    expect(describePlace({})).toMatchObject({
      position: 1,
      estimatedStartAt: timestampFromMs(START + 40_000),
      since: timestampFromMs(START - 7),
      startBy: timestampFromMs(START + 9),
      class: QueueClass.BATCH,
      waitsFor: QueueWait.CAPACITY,
    });
  });

  test.each<[string, Partial<FoundPlace>, object]>([
    ['whose token is at its limit waits for it', { isReady: false }, { waitsFor: QueueWait.OWN_LIMIT }],
    ['that an operator holds waits for capacity', { isHeld: true }, { waitsFor: QueueWait.CAPACITY }],
    [
      'in a lane without turns waits for capacity',
      { lane: LANE.replace('fast', 'slow') },
      { waitsFor: QueueWait.CAPACITY },
    ],
  ])('%s, and has no estimate', (_which, changes, seen) => {
    const place = describePlace(changes);
    expect(place).toMatchObject(seen);
    expect(place.estimatedStartAt).toBeUndefined();
  });

  test('before its time waits for it, in the class of its lane from then on', () => {
    expect(describePlace({ lane: 'scheduled', nextLane: LANE, notBefore: START + 5 })).toMatchObject({
      waitsFor: QueueWait.SCHEDULED,
      estimatedStartAt: timestampFromMs(START + 5),
      class: QueueClass.BATCH,
    });
  });
});
