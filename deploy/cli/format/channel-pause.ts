import type { ChannelPause } from '@reelgate/proto/tasks/v1/channel_pause';
import { isoTime } from './times.ts';

export function toPauseJson({ at, actor, reason }: ChannelPause): object {
  return { paused_at: isoTime(at), actor, reason };
}
