import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import { toMessage, toTimestamp } from '@reelgate/platform/rpc/whole-message';
import { QueueClass, QueuePlaceSchema, QueueWait } from '@reelgate/proto/tasks/v1/queue';
import type { QueuePlace } from '@reelgate/proto/tasks/v1/queue';
import { SCHEDULED_LANE, readLane } from '../../domain/lane.ts';
import type { FoundPlace } from '../../store/queue-store.ts';
import type { Deps } from '../deps.ts';
import { estimateWaitMs } from '../lanes/lane-rates.ts';

const CLASSES = deriveValues(QueueClass);

/** Returns undefined if the task does not wait, or has its turn now. */
export async function describePlace(
  deps: Pick<Deps, 'store' | 'clock' | 'queue'>,
  taskId: string,
): Promise<QueuePlace | undefined> {
  const place = await deps.store.findPlace(taskId);
  return place && toQueuePlace(deps, place);
}

/** The place of a task as its owner sees it. It does not show other accounts. */
export function toQueuePlace({ clock, queue }: Pick<Deps, 'clock' | 'queue'>, place: FoundPlace): QueuePlace {
  const { lane, nextLane, position, since, startBy } = place;
  const isScheduled = lane === SCHEDULED_LANE;
  const waitMs =
    isScheduled || !place.isReady || place.isHeld
      ? undefined
      : estimateWaitMs({ ...place, perMinute: queue.rates.readPerMinute(lane) });
  const expectedAt = waitMs === undefined ? undefined : clock.now() + waitMs;
  return toMessage(QueuePlaceSchema, {
    position,
    estimatedStartAt: toTimestamp(isScheduled ? place.notBefore : expectedAt),
    since: timestampFromMs(since),
    startBy: timestampFromMs(startBy),
    class: CLASSES[readLane(nextLane ?? lane).class],
    waitsFor: isScheduled ? QueueWait.SCHEDULED : place.isReady ? QueueWait.CAPACITY : QueueWait.OWN_LIMIT,
  });
}
