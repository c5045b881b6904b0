import type { Bus, Subscription } from '@reelgate/platform/bus/bus';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { ServiceEventSchema } from '@reelgate/proto/access/v1/service_event';
import type { HandOverStore } from '../store/operator-store.ts';

/** The members of a group share its events. */
const GROUP = 'tasks';
const TYPE = /^[a-z_]{1,64}$/;
const SUBJECT_MAX = 128;

/**
 * Writes the events of other services about circuits and configurations. An event can come twice; the row is the same.
 * An event that no row can hold is dropped, because it would come again for ever.
 */
export function onServiceEvent(bus: Bus, operators: Pick<HandOverStore, 'addServiceEvents'>): Promise<Subscription> {
  return bus.subscribe(ServiceEventSchema, GROUP, async ({ at, type, subject }) => {
    if (at === undefined || !TYPE.test(type) || subject.length > SUBJECT_MAX || subject.includes('\0')) return;
    await operators.addServiceEvents([{ at: timestampMs(at), type, subject }]);
  });
}
