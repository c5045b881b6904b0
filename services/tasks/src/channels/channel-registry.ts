import { isRecent } from '@reelgate/platform/clock';
import type { Clock, TimeSource } from '@reelgate/platform/clock';
import { newAskedWaits, obeyWaits, obeyWaitsAtRate } from '@reelgate/platform/limits/asked-waits';
import type { AskedWaits, CallKind } from '@reelgate/platform/limits/asked-waits';
import { newCallerShares, shareAmongCallers } from '@reelgate/platform/limits/caller-shares';
import type { CallerShares, DividedLimits } from '@reelgate/platform/limits/caller-shares';
import type { Circuit } from '@reelgate/platform/limits/circuit-breaker';
import { newEvenRate } from '@reelgate/platform/limits/rate-limiter';
import type { Rate } from '@reelgate/platform/limits/rate-limiter';
import { divideLimits } from '@reelgate/platform/limits/shared-limits';
import type { SharedLimits } from '@reelgate/platform/limits/shared-limits';
import type { ChannelAdapter } from './channel-adapter.ts';
import { ENDPOINT_OF } from './channel.ts';
import type { AskToWait, Channel, ChannelFactory, ChannelSettings } from './channel.ts';
import type { Kind } from '../domain/order.ts';
import { newRefusalsInRow } from '../domain/refusals-in-row.ts';
import type { RefusalsInRow } from '../domain/refusals-in-row.ts';

/** The pause of a channel after a throttle without a time. */
const THROTTLED = { minMs: 250, maxMs: 2000 };

/** A channel with its state, which the replicas share as far as they can. */
export interface ChannelRuntime {
  readonly channel: Channel;
  readonly circuit: Circuit;
  /** The accounts that want its creates of a minute share them. */
  readonly creates: DividedLimits;
  /** The accounts that want its places in flight share them too. */
  readonly places: CallerShares;
  /** The part of this replica. All replicas poll from one queue, so each can use its part. */
  readonly polls: Rate;
  /** Reports whether an operator has paused the channel, so that it gets no new work. */
  readonly isPaused: () => boolean;
  /** The milliseconds for which its upstream has asked for no calls of a kind. `creates` and `polls` obey it. */
  readonly askedWaitMs: (kind: CallKind) => number;
  readonly askToWait: AskToWait;
  /** The consecutive throttles of an upstream that does not say how long to wait. */
  readonly throttles: RefusalsInRow;
  readonly witnesses: FaultWitnesses;
}

/** The channels of the current configuration. */
export interface ChannelRegistry {
  all(): readonly ChannelRuntime[];
  /** Also finds a channel that was removed from the configuration, because its unfinished work is still polled. */
  find(channelId: string): ChannelRuntime | undefined;
  /** The enabled channels that serve a kind and a model, paused ones too, in the order in which they are tried. */
  listServing(kind: Kind, model: string): readonly ChannelRuntime[];
  /** Reports whether an enabled channel serves a kind and a model. */
  isServed(kind: Kind, model: string): boolean;
  replace(settings: readonly ChannelSettings[]): void;
  close(): Promise<void>;
}

export interface ChannelRegistryOptions {
  readonly clock: Clock;
  /** The factories of the built-in adapters, by their names. */
  readonly adapters: Readonly<Record<string, ChannelFactory>>;
  /** Returns the factory of an operator's adapter. Absent if there are no such adapters. */
  readonly openAdapter?: (adapter: ChannelAdapter) => ChannelFactory;
  /** A random number from 0 to 1, exclusive. */
  readonly chance: () => number;
  /** Absent if this process has no replicas. */
  readonly limits?: SharedLimits;
  /** The number of live replicas, this one included; 1 by default. */
  readonly replicas?: () => number;
  /** The waits that upstreams ask for. By default, no other process learns of them. */
  readonly waits?: AskedWaits;
  /** The time without polls at the start, in which other processes learn of this one; 0 by default. */
  readonly pollsAfterMs?: number;
  /** None is paused by default. */
  readonly isPaused?: (channelId: string) => boolean;
}

export function newChannelRegistry(
  settings: readonly ChannelSettings[],
  options: ChannelRegistryOptions,
): ChannelRegistry {
  const { clock, adapters, openAdapter, chance, limits = divideLimits(clock) } = options;
  const { replicas = () => 1, isPaused = () => false, waits = newAskedWaits(clock) } = options;
  const runtimes = new Map<string, { runtime: ChannelRuntime; made: string; current: boolean }>();
  const replaced: Channel[] = [];
  /** A changed channel keeps count of its polls of the last second. */
  const pollRates = new Map<string, Rate>();
  const pollsPerMinute = new Map<string, number>();
  const newPollRate = (id: string): Rate =>
    newEvenRate({
      clock,
      restMs: options.pollsAfterMs ?? 0,
      perMinute: () => (pollsPerMinute.get(id) ?? 0) / replicas(),
    });
  const replace = (next: readonly ChannelSettings[]): void => {
    // an adapter may refuse its options, and then the channels stay as they were
    const opened = next.map((one) => {
      const made = serializeSettings(one);
      const known = runtimes.get(one.id);
      return known?.made === made ? known : { runtime: newRuntime(one), made, current: true };
    });
    for (const entry of runtimes.values()) entry.current = false;
    for (const [at, entry] of opened.entries()) {
      const id = next[at]?.id ?? '';
      const known = runtimes.get(id);
      if (known !== undefined && known !== entry) replaced.push(known.runtime.channel);
      runtimes.set(id, Object.assign(entry, { current: true }));
    }
  };
  const newRuntime = (one: ChannelSettings): ChannelRuntime => {
    const factory = one.ownAdapter === undefined ? adapters[one.adapter] : openAdapter?.(one.ownAdapter.adapter);
    if (factory === undefined) throw new Error(`no adapter is called ${one.adapter}`);
    const askToWait: AskToWait = (kinds, ms) => waits.ask(one.id, kinds, ms);
    const askedWaitMs = (kind: CallKind): number => waits.waitMs(one.id, kind);
    const creates = obeyWaits(newCreateLimits(one, { clock, limits }), () => askedWaitMs('work'));
    pollsPerMinute.set(one.id, one.pollsPerMinute);
    const pollRate = pollRates.get(one.id) ?? newPollRate(one.id);
    pollRates.set(one.id, pollRate);
    return {
      channel: factory(one, clock, askToWait),
      circuit: creates.circuit,
      creates,
      places: newCallerShares(clock, one.inFlightMax),
      polls: obeyWaitsAtRate(pollRate, () => askedWaitMs('reads')),
      isPaused: () => isPaused(one.id),
      askedWaitMs,
      askToWait,
      throttles: newRefusalsInRow(THROTTLED),
      witnesses: newFaultWitnesses(clock),
    };
  };
  const current = (): ChannelRuntime[] =>
    [...runtimes.values()].flatMap((entry) => (entry.current ? [entry.runtime] : []));

  replace(settings);
  return {
    all: current,
    find: (channelId) => runtimes.get(channelId)?.runtime,
    listServing: (kind, model) =>
      drawTryOrder(
        current().filter(({ channel }) => serves(channel.settings, kind, model)),
        chance,
      ),
    isServed: (kind, model) => current().some(({ channel }) => serves(channel.settings, kind, model)),
    replace,
    close: async () => {
      await Promise.all(
        [...replaced, ...[...runtimes.values()].map(({ runtime }) => runtime.channel)].map((channel) =>
          channel.close(),
        ),
      );
    },
  };
}

/** All settings of a channel, to compare it. */
function serializeSettings(settings: ChannelSettings): string {
  return JSON.stringify({
    ...settings,
    ownAdapter: settings.ownAdapter?.sha256,
    apiKey: settings.apiKey.reveal(),
    callbackSecret: settings.callbackSecret?.reveal(),
  });
}

function newCreateLimits(
  { id, requestsPerMinute: perMinute }: ChannelSettings,
  { clock, limits }: { readonly clock: Clock; readonly limits: SharedLimits },
): DividedLimits {
  return shareAmongCallers(limits.forPeer(id, { perMinute }), { clock, perMinute, replicas: limits.replicas });
}

function serves({ enabled, endpoints, models }: ChannelSettings, kind: Kind, model: string): boolean {
  return enabled && endpoints.includes(ENDPOINT_OF[kind]) && Object.hasOwn(models, model);
}

/** Sorts by priority, and among equals by a weighted random draw. */
function drawTryOrder(runtimes: readonly ChannelRuntime[], chance: () => number): readonly ChannelRuntime[] {
  const drawn = runtimes.map((runtime) => ({
    runtime,
    lot: chance() ** (1 / Math.max(runtime.channel.settings.weight, Number.EPSILON)),
  }));
  drawn.sort((a, b) => b.runtime.channel.settings.priority - a.runtime.channel.settings.priority || b.lot - a.lot);
  return drawn.map(({ runtime }) => runtime);
}

/** An answer of a channel counts for this time. */
const RECENT_MS = 10 * 60_000;

/** The accounts that know how a channel answers orders. */
interface FaultWitnesses {
  /** The channel has taken an order of this account. */
  accepted(accountId: string): void;
  /**
   * An order of this account met a fault of the channel. Returns whether the account is alone with it: no other account
   * met one within ten minutes, and the channel took an order of another one. Its orders may then be the cause.
   */
  isAloneWithFault(accountId: string): boolean;
}

export function newFaultWitnesses(clock: TimeSource): FaultWitnesses {
  const met = newLastAccounts(clock);
  const served = newLastAccounts(clock);
  return {
    accepted: served.add,
    isAloneWithFault: (accountId) => {
      met.add(accountId);
      return !met.hasOther(accountId) && served.hasOther(accountId);
    },
  };
}

/** The last two accounts and their times. Two are enough to know whether there is another one. */
function newLastAccounts(clock: TimeSource) {
  let times: readonly { readonly accountId: string; readonly at: number }[] = [];
  return {
    add: (accountId: string): void => {
      const [other] = times.filter((one) => one.accountId !== accountId);
      times = [{ accountId, at: clock.now() }, ...(other === undefined ? [] : [other])];
    },
    hasOther: (accountId: string): boolean =>
      times.some((one) => one.accountId !== accountId && isRecent(clock, one.at, RECENT_MS)),
  };
}
