import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import type { AskedWait } from '@reelgate/platform/limits/asked-waits';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import { ChannelCallsSchema } from '@reelgate/proto/tasks/v1/channel_calls';
import type { ChannelCalls as WireCalls } from '@reelgate/proto/tasks/v1/channel_calls';
import { CallKind, ChannelWaitSchema } from '@reelgate/proto/tasks/v1/channel_wait';
import type { ChannelWait } from '@reelgate/proto/tasks/v1/channel_wait';
import type { ChannelCalls } from '../store/operator-store.ts';

const KINDS = deriveValues(CallKind);

export function toWireWait({ peer: channel, kind, until }: AskedWait): ChannelWait {
  return toMessage(ChannelWaitSchema, { channel, kind: KINDS[kind], until: timestampFromMs(until) });
}

/** A kind that this release does not know counts as work, so that it keeps no task from its end. */
export function fromWireWait({ channel, kind, until }: ChannelWait): AskedWait {
  return {
    peer: channel,
    kind: kind === CallKind.READS ? 'reads' : 'work',
    until: until === undefined ? 0 : timestampMs(until),
  };
}

export function toWireCalls({ channel, process, at, count }: ChannelCalls): WireCalls {
  return toMessage(ChannelCallsSchema, { channel, process, second: timestampFromMs(at), count });
}

export function fromWireCalls({ channel, process, second, count }: WireCalls): ChannelCalls {
  return { channel, process, at: second === undefined ? 0 : timestampMs(second), count };
}
