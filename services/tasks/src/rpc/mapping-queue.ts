import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { QueueClass as WireClass, QueuePlaceSchema, QueueWait } from '@reelgate/proto/tasks/v1/queue';
import type { QueuePlace } from '@reelgate/proto/tasks/v1/queue';
import type { QueueClass } from '../domain/lane.ts';
import type { PlaceView } from '../operations/queue/describe-place.ts';
import { toMessage, toWireTime } from './wire-message.ts';

export const CLASSES: Readonly<Record<QueueClass, WireClass>> = {
  interactive: WireClass.INTERACTIVE,
  standard: WireClass.STANDARD,
  batch: WireClass.BATCH,
};
const WAITS: Readonly<Record<PlaceView['waitsFor'], QueueWait>> = {
  capacity: QueueWait.CAPACITY,
  own_limit: QueueWait.OWN_LIMIT,
  scheduled: QueueWait.SCHEDULED,
};

export function toWirePlace(place: PlaceView): QueuePlace {
  return toMessage(QueuePlaceSchema, {
    position: place.position,
    estimatedStartAt: toWireTime(place.estimatedStartAt),
    since: timestampFromMs(place.since),
    startBy: timestampFromMs(place.startBy),
    class: CLASSES[place.class],
    waitsFor: WAITS[place.waitsFor],
  });
}
