import type { Bus, Subscription } from '@reelgate/platform/bus/bus';
import { AttentionChangedSchema } from '@reelgate/proto/tasks/v1/attention_events';
import { ChannelPausesChangedSchema } from '@reelgate/proto/tasks/v1/channel_pause';
import { EventsDispatchedSchema } from '@reelgate/proto/tasks/v1/webhook_events';
import type { ServiceSignals } from '../operations/service-signals.ts';

/** Tells open pages what the services announce. */
export function onServiceSignals(bus: Bus, signals: Pick<ServiceSignals, 'tell'>): Promise<readonly Subscription[]> {
  return Promise.all([
    bus.listen(EventsDispatchedSchema, () => {
      signals.tell({ of: 'events_dispatched' });
    }),
    bus.listen(AttentionChangedSchema, ({ taskId }) => {
      signals.tell({ of: 'attention', id: taskId });
    }),
    bus.listen(ChannelPausesChangedSchema, ({ channel }) => {
      signals.tell({ of: 'channels', id: channel });
    }),
  ]);
}
