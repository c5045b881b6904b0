import { publishServiceEvents } from '@reelgate/platform/bus/publish-service-events';
import type { Foundation } from '@reelgate/platform/foundation';
import type { Random } from '@reelgate/platform/ids';
import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import { startWorker } from '@reelgate/platform/lifecycle/worker';
import { newAskedWaits } from '@reelgate/platform/limits/asked-waits';
import type { AskedWaits } from '@reelgate/platform/limits/asked-waits';
import type { SharedLimits } from '@reelgate/platform/limits/shared-limits';
import { PROBE_EVERY_MS, newProber } from '@reelgate/platform/limits/probe-suspects';
import { newCircuitWatch } from '@reelgate/platform/limits/watch-circuits';
import { channelPausesReader } from '../clients/channels-client.ts';
import { callsClient } from '../clients/calls-client.ts';
import type { GatewayClients } from '../clients/gateway-clients.ts';
import {
  announceChannelCalls,
  announceChannelWait,
  onChannelPausesChanged,
  onChannelWait,
} from '../events/subscriptions.ts';
import { startCallWatch } from './attempts/forward-call.ts';
import { followChannelPauses } from './channels/channel-pauses.ts';
import type { ChannelPauses } from './channels/channel-pauses.ts';
import type { RelayChannelSettings } from './channels/relay-channel-config.ts';
import { newRelayChannels } from './channels/relay-channels.ts';
import type { RelayChannels } from './channels/relay-channels.ts';
import { probeRelayChannel } from './channels/relay-checks.ts';
import { newBatchedCharges } from './charges/batched-charges.ts';
import { newHoldForecast } from './charges/hold-forecast.ts';
import { newRealtime } from './realtime/realtime.ts';
import type { RealtimeSettings } from './realtime/realtime-settings.ts';
import type { Realtime } from './realtime/realtime.ts';
import { newRelayObserver } from './observe-call.ts';
import { newRelay } from './relay.ts';
import type { Relay } from './relay.ts';
import { newIdSigners } from './state/sign-ids.ts';

/** A circuit stays open for half a minute or until a call works. */
const CIRCUITS_IDLE_MS = 5000;

export interface RelaySettings {
  readonly catalogue: { readonly relay: readonly RelayChannelSettings[] };
  readonly realtime: RealtimeSettings;
  /** The largest hold, in billionths, for which the call may be sent at the same time. */
  readonly sendBesideMaxNanos: number;
}

export interface RelayParts {
  readonly relay: Relay;
  readonly realtime: Realtime;
  readonly channels: RelayChannels;
  readonly pauses: ChannelPauses;
}

/**
 * Starts the relay of synchronous calls. The lifecycle stops the parts in reverse: the watch, the pending settlements,
 * the connections.
 */
export async function startRelay(
  { catalogue, realtime: settings, sendBesideMaxNanos }: RelaySettings,
  foundation: Foundation,
  clients: GatewayClients,
  { limits, lifecycle }: { readonly limits: SharedLimits; readonly lifecycle: Lifecycle },
): Promise<RelayParts> {
  const { clock, newId, log, metrics, random } = foundation;
  const waits = newAskedWaits(clock, (wait) => {
    log.warn({ channel: wait.peer, until: wait.until }, 'an upstream asks for a wait');
    announceChannelWait(foundation.bus, wait);
  });
  const channels = newRelayChannels(catalogue.relay, {
    clock,
    limits,
    chance: newChance(random),
    isPaused: (id) => pauses.of(id) !== undefined,
    waits,
    announceCalls: announceChannelCalls(foundation.bus, newId('gateway')),
    openPool: clients.openRelayPool,
  });
  const pauses = await startPauses(foundation, clients, { waits, channels, lifecycle });
  lifecycle.add('relay channels', () => channels.close());
  startCircuitWatch(foundation, channels, lifecycle);
  const forecast = newHoldForecast({ clock, holdMax: sendBesideMaxNanos });
  const charges = newBatchedCharges({ requests: callsClient(clients.calls), forecast, clock, log });
  lifecycle.add('settlements', () => charges.stop());
  const watch = startCallWatch(clock, log);
  lifecycle.add('watch of relayed calls', () => watch.stop());
  const realtime = newRealtime({ clock, newId, log, metrics, channels, charges, settings });
  return {
    channels,
    pauses,
    realtime,
    relay: newRelay({
      channels,
      charges,
      watch,
      signIdsFor: newIdSigners(foundation.acceptedKeys),
      clock,
      newId,
      observer: newRelayObserver({ metrics, clock, log }, channels),
    }),
  };
}

/**
 * Watches the circuits, because operators read at the hand-over which ones opened and closed. A channel in doubt is
 * called by ourselves.
 */
function startCircuitWatch({ bus, clock, log }: Foundation, channels: RelayChannels, lifecycle: Lifecycle): void {
  const circuits = newCircuitWatch(
    () => channels.all().map(({ settings, circuit }) => ({ id: settings.id, circuit })),
    (changes) => publishServiceEvents(bus, changes),
    clock,
  );
  const worker = startWorker({
    name: 'circuits of relay channels',
    clock,
    log,
    idleMs: CIRCUITS_IDLE_MS,
    pass: () => circuits.pass().then(() => 0),
  });
  lifecycle.add('circuits of relay channels', () => worker.stop());
  const prober = newProber();
  const probes = startWorker({
    name: 'probes of relay channels',
    clock,
    log,
    idleMs: PROBE_EVERY_MS,
    pass: async (stopping) => {
      const enabled = channels.all().filter(({ settings }) => settings.enabled);
      const probed = enabled.map((channel) => ({
        of: channel,
        circuit: channel.circuit,
        probe: (signal: AbortSignal) => probeRelayChannel(channel, signal),
      }));
      await prober.pass(probed, stopping);
      return 0;
    },
  });
  lifecycle.add('probes of relay channels', () => probes.stop());
}

/**
 * Reads the pauses, the waits and the calls of the last minute before the first call, if the tasks service can be reached.
 */
async function startPauses(
  { bus, clock, log }: Foundation,
  clients: GatewayClients,
  {
    waits,
    channels,
    lifecycle,
  }: { readonly waits: AskedWaits; readonly channels: RelayChannels; readonly lifecycle: Lifecycle },
): Promise<ChannelPauses> {
  const pauses = followChannelPauses({
    read: channelPausesReader(clients.pauses),
    waits,
    learnCalls: (calls) => channels.learnCalls(calls),
    clock,
    log,
  });
  lifecycle.add('channel pauses', () => pauses.stop());
  const events = await onChannelPausesChanged(bus, () => pauses.wake());
  lifecycle.add('events of channel pauses', () => events.stop());
  const asked = await onChannelWait(bus, (wait) => {
    waits.learn([wait]);
  });
  lifecycle.add('events of channel waits', () => asked.stop());
  // the worker logs the reason of its failure
  await pauses.refresh().catch(() => undefined);
  return pauses;
}

/** A source of numbers from 0 (inclusive) to 1 (exclusive). */
function newChance(random: Random): () => number {
  return () => {
    const bytes = new Uint8Array(4);
    random(bytes);
    return new DataView(bytes.buffer).getUint32(0) / 2 ** 32;
  };
}
