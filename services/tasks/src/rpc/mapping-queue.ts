import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { deriveValues, deriveWords } from '@reelgate/platform/rpc/enum-words';
import { QueueClass as WireClass, QueuePlaceSchema, QueueWait } from '@reelgate/proto/tasks/v1/queue';
import type { QueuePlace } from '@reelgate/proto/tasks/v1/queue';
import type { PlaceView } from '../operations/queue/describe-place.ts';
import { toMessage, toWireTime } from './wire-message.ts';

export const CLASSES = deriveValues(WireClass);
export const CLASS_WORDS = deriveWords(WireClass);
const WAITS = deriveValues(QueueWait);

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
