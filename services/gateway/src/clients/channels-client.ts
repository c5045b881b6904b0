import type { AskedWait } from '@reelgate/platform/limits/asked-waits';
import type { TakesOfSecond } from '@reelgate/platform/limits/announce-takes';
import type { ChannelCalls } from '@reelgate/proto/tasks/v1/channel_calls';
import { CallKind } from '@reelgate/proto/tasks/v1/channel_wait';
import type { ChannelWait } from '@reelgate/proto/tasks/v1/channel_wait';
import type { ChannelPause as WirePause } from '@reelgate/proto/tasks/v1/channel_pause';
import type { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import type { Client } from '@reelgate/platform/rpc/service';
import { toMs } from './wire-values.ts';
import type { MessageMapping } from './wire-values.ts';

/** An operator has paused a channel: it gets no new work. */
export interface ChannelPause {
  readonly channel: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly actor: string;
  readonly reason: string;
  /** The time at which it is over by itself; undefined: an operator ends it. */
  readonly endsAt: number | undefined;
}

function fromWirePause({ channel, at, actor, reason, endsAt }: WirePause): ChannelPause {
  return { channel, at: toMs(at) ?? 0, actor, reason, endsAt: toMs(endsAt) } satisfies MessageMapping<WirePause>;
}

export function fromWireWait({ channel, kind, until }: ChannelWait): AskedWait {
  const named = kind === CallKind.READS ? ('reads' as const) : ('work' as const);
  return { peer: channel, kind: named, until: toMs(until) ?? 0 } satisfies MessageMapping<ChannelWait, 'channel'>;
}

function fromWireCalls({ channel, second, count }: ChannelCalls): TakesOfSecond {
  return { peer: channel, at: toMs(second) ?? 0, count } satisfies MessageMapping<
    ChannelCalls,
    'channel' | 'process' | 'second'
  >;
}

/** A start waits no longer for the pauses. */
const PAUSES_DEADLINE_MS = 2000;

/** The channels that get no new work now, or not much. */
export interface RestingChannels {
  readonly pauses: readonly ChannelPause[];
  /** The waits that their upstreams have asked for. */
  readonly waits: readonly AskedWait[];
  /** The calls that gateways have given their channels in the last minute, if they were asked for. */
  readonly calls: readonly TakesOfSecond[];
}

/** `withCalls`: also reads the calls. */
export type ReadChannelPauses = (withCalls: boolean) => Promise<RestingChannels>;

/** Reads them under the identity of the gateway. */
export function channelPausesReader(client: Client<typeof OperatorService>): ReadChannelPauses {
  return async (withCalls) => {
    const { pauses, waits, calls } = await client.listChannelPauses({ withCalls }, { timeoutMs: PAUSES_DEADLINE_MS });
    return { pauses: pauses.map(fromWirePause), waits: waits.map(fromWireWait), calls: calls.map(fromWireCalls) };
  };
}
