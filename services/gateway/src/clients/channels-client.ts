import type { AskedWait } from '@reelgate/platform/limits/asked-waits';
import type { TakesOfSecond } from '@reelgate/platform/limits/announce-takes';
import type { ChannelCalls } from '@reelgate/proto/tasks/v1/channel_calls';
import { CallKind } from '@reelgate/proto/tasks/v1/channel_wait';
import type { ChannelWait } from '@reelgate/proto/tasks/v1/channel_wait';
import type { ChannelPause as WirePause } from '@reelgate/proto/tasks/v1/channel_pause';
import type { ChannelStatus, OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import type { Client } from '@reelgate/platform/rpc/service';
import { withDeadline } from './caller.ts';
import type { Caller } from './caller.ts';
import type { OperatorClients } from './gateway-clients.ts';
import { requireValue, toMs } from './wire-values.ts';
import type { MessageMapping } from './wire-values.ts';

/** A test calls an upstream, which may be slow. */
const TEST_DEADLINE_MS = 30_000;

export type CircuitState = 'closed' | 'open' | 'half_open';

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

/** A channel of the tasks service. */
export interface TaskChannel {
  readonly id: string;
  readonly adapter: string;
  readonly upstreamAccount: string;
  readonly isEnabled: boolean;
  readonly circuit: CircuitState;
  readonly inFlight: number;
  readonly inFlightMax: number;
  readonly perMinuteMax: number;
  readonly priority: number;
  readonly weight: number;
  readonly models: readonly string[];
  readonly endpoints: readonly string[];
  readonly pause: ChannelPause | undefined;
}

/** A change of a channel by an operator. */
export interface ChannelAct {
  readonly id: string;
  readonly actor: string;
  readonly reason: string;
}

export interface PauseAct extends ChannelAct {
  /** Undefined: the pause has no end. */
  readonly forSeconds?: number | undefined;
}

export interface ChannelOutcome {
  readonly ok: boolean;
  readonly detail: string;
  readonly tookMs: number;
}

/** The channels of the tasks service, and the pauses of all channels. */
export interface TaskChannels {
  list(caller: Caller): Promise<readonly TaskChannel[]>;
  /** Returns the pause, which may be an earlier one. */
  pause(act: PauseAct, caller: Caller): Promise<ChannelPause>;
  resume(act: ChannelAct, caller: Caller): Promise<void>;
  test(act: Omit<ChannelAct, 'reason'>, caller: Caller): Promise<ChannelOutcome>;
}

const CIRCUITS: readonly CircuitState[] = ['closed', 'open', 'half_open'];

export function taskChannels({ tasks }: OperatorClients): TaskChannels {
  return {
    list: async (caller) => (await tasks.listChannels({}, withDeadline(caller))).channels.map(fromWireChannel),
    pause: async ({ id, actor, reason, forSeconds = 0 }, caller) => {
      const { pause } = await tasks.pauseChannel({ id, actor, reason, forSeconds }, withDeadline(caller));
      return fromWirePause(requireValue(pause));
    },
    resume: async ({ id, actor, reason }, caller) => {
      await tasks.resumeChannel({ id, actor, reason }, withDeadline(caller));
    },
    test: async ({ id, actor }, caller) => {
      const { ok, detail, tookMs } = await tasks.testChannel({ id, actor }, withDeadline(caller, TEST_DEADLINE_MS));
      return { ok, detail, tookMs: Number(tookMs) };
    },
  };
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

function fromWireChannel(channel: ChannelStatus): TaskChannel {
  const { id, adapter, upstreamAccount, inFlight, priority, weight, models, endpoints, pause } = channel;
  return {
    id,
    adapter,
    upstreamAccount,
    isEnabled: channel.enabled,
    circuit: CIRCUITS.find((state) => state === channel.circuit) ?? 'closed',
    inFlight,
    inFlightMax: channel.inFlightLimit,
    perMinuteMax: channel.requestsPerMinute,
    priority,
    weight,
    models,
    endpoints,
    pause: pause && fromWirePause(pause),
  } satisfies MessageMapping<ChannelStatus, 'enabled' | 'inFlightLimit' | 'requestsPerMinute'>;
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
