import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import { ChannelCallsSchema } from '@reelgate/proto/tasks/v1/channel_calls';
import type { ChannelCalls as WireCalls } from '@reelgate/proto/tasks/v1/channel_calls';
import type { ChannelCalls } from '../store/operator-store.ts';

export function toWireCalls({ channel, process, at, count }: ChannelCalls): WireCalls {
  return toMessage(ChannelCallsSchema, { channel, process, second: timestampFromMs(at), count });
}

export function fromWireCalls({ channel, process, second, count }: WireCalls): ChannelCalls {
  return { channel, process, at: second === undefined ? 0 : timestampMs(second), count };
}
