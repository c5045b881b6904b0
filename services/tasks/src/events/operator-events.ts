import { create } from '@bufbuild/protobuf';
import type { Bus, Subscription } from '@reelgate/platform/bus/bus';
import { AttentionChangedSchema } from '@reelgate/proto/tasks/v1/attention_events';
import { ChannelPausesChangedSchema } from '@reelgate/proto/tasks/v1/channel_pause';

export function announcePause(bus: Bus): (channelId: string) => void {
  return (channel) => {
    bus.announce(ChannelPausesChangedSchema, create(ChannelPausesChangedSchema, { channel }));
  };
}

/** Calls back when any process has paused or resumed a channel. */
export function onPausesChanged(bus: Bus, heard: () => void): Promise<Subscription> {
  return bus.listen(ChannelPausesChangedSchema, heard);
}

/** Makes pages of operators fresher. */
export function announceAttention(bus: Bus): (taskId: string) => void {
  return (taskId) => {
    bus.announce(AttentionChangedSchema, create(AttentionChangedSchema, { taskId }));
  };
}
