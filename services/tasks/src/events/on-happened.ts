import type { Bus, Subscription } from '@reelgate/platform/bus/bus';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { HappenedSchema } from '@reelgate/proto/access/v1/happening';
import type { HandOverStore } from '../store/operator-store.ts';

/** The members of a group share its events. */
const GROUP = 'tasks';
const TYPE = /^[a-z_]{1,64}$/;
const SUBJECT_MAX = 128;

/**
 * Writes what other services tell of circuits and configurations. An event can come twice; the row is the same. One that
 * no row can hold is dropped, because it would come again for ever.
 */
export function onHappened(bus: Bus, operators: Pick<HandOverStore, 'addHappenings'>): Promise<Subscription> {
  return bus.subscribe(HappenedSchema, GROUP, async ({ at, type, subject }) => {
    if (at === undefined || !TYPE.test(type) || subject.length > SUBJECT_MAX || subject.includes('\0')) return;
    await operators.addHappenings([{ at: timestampMs(at), type, subject }]);
  });
}
