import type { Bus, Subscription } from '@reelgate/platform/bus/bus';
import { ChannelPausesChangedSchema } from '@reelgate/proto/tasks/v1/channel_pause';
import type { ChannelPauses } from '../relay/channels/channel-pauses.ts';

/** Reads the pauses again when a channel was paused or resumed. */
export function onChannelPausesChanged(bus: Bus, pauses: Pick<ChannelPauses, 'wake'>): Promise<Subscription> {
  return bus.listen(ChannelPausesChangedSchema, () => {
    pauses.wake();
  });
}
