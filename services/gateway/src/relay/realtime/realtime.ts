import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '@reelgate/platform/clock';
import type { NewId } from '@reelgate/platform/ids';
import type { MaybePromise } from '@reelgate/platform/maybe-promise';
import type { Log } from '@reelgate/platform/log';
import type { Metrics } from '@reelgate/platform/metrics/metrics';
import { listTokenAndMakers, mayUse } from '../../clients/billing-client.ts';
import type { Principal } from '../../clients/billing-client.ts';
import { listServingChannels, modelNotFound } from '../channels/serving-channels.ts';
import type { RelayChannel, RelayChannels } from '../channels/relay-channels.ts';
import { listPriceKeys } from '../charges/call-charges.ts';
import type { DurableCharges } from '../charges/call-charges.ts';
import { REALTIME_ENDPOINT } from '../endpoints.ts';
import { newClientServer } from './client-server.ts';
import type { ClientServer } from './client-server.ts';
import { CLOSE, runSession } from './run-session.ts';
import type { SessionEnd } from './run-session.ts';
import { openUpstream } from './dial-upstream.ts';
import type { UpstreamRefusal, OpenUpstream } from './dial-upstream.ts';
import type { Handshake } from './handshake.ts';
import type { RealtimeSettings } from './realtime-settings.ts';
import { newSessionUsage } from './session-usage.ts';
import type { SessionUsage } from './session-usage.ts';
import type { Problem } from '@reelgate/platform/problem';
import { permitsByToken } from '../../operations/stream-permits.ts';
import { refuse } from '../../refusals.ts';

/** Dialling, closing and settling take less than this. After it billing charges the hold by itself. */
const LAPSE_MARGIN_MS = 3_600_000;

/** A handshake with a known caller, and the connection on which it arrived. */
interface SessionOpening {
  readonly handshake: Handshake;
  readonly principal: Principal;
  /** The client's label for the charge of the session, undefined if there is none. */
  readonly label: string | undefined;
  /** Returns the token's current principal. Refuses with a Problem. */
  readonly principalNow: () => MaybePromise<Principal>;
  readonly requestId: string;
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  /** Aborted when the client has left. */
  readonly gone: AbortSignal;
}

/** Sessions between clients and upstreams. */
export interface Realtime {
  /**
   * Runs a session to its end, or returns an upstream's refusal. It throws a Problem only while the connection still
   * speaks HTTP.
   */
  serve(opening: SessionOpening): Promise<UpstreamRefusal | SessionEnd>;
  /** Opens no further session, ends those that run, and waits for them. */
  stop(): Promise<void>;
}

interface RealtimeDeps {
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly channels: RelayChannels;
  readonly charges: DurableCharges;
  readonly settings: RealtimeSettings;
}

interface SessionHost {
  readonly server: ClientServer;
  /** Aborted when the gateway stops. */
  readonly stopping: AbortSignal;
}

export function newRealtime(deps: RealtimeDeps): Realtime {
  const { channels, settings, metrics } = deps;
  const server = newClientServer(settings);
  const sessions = new Set<Promise<unknown>>();
  const permits = sessionPermits(settings);
  const stopping = new AbortController();
  metrics.gauge('reelgate_relay_realtime_sessions', 'Realtime sessions that are open or being opened', [], (gauge) =>
    gauge.labels().set(permits.inUse()),
  );
  return {
    serve: async (opening) => {
      const {
        handshake: { model },
        principal,
      } = opening;
      listServingChannels(channels, principal, REALTIME_ENDPOINT, model);
      if (stopping.signal.aborted) throw gatewayBusy();
      const permit = permits.acquire(...listTokenAndMakers(principal));
      const session = runChargedSession(deps, opening, { server, stopping: stopping.signal });
      sessions.add(session);
      try {
        return await session;
      } finally {
        sessions.delete(session);
        permit.release();
      }
    },
    stop: async () => {
      stopping.abort();
      await Promise.allSettled(sessions);
      server.close();
    },
  };
}

/** Holds the money before an upstream is dialled, and settles it once, however the session ends. */
async function runChargedSession(
  deps: RealtimeDeps,
  opening: SessionOpening,
  running: SessionHost,
): Promise<UpstreamRefusal | SessionEnd> {
  const { clock, newId, charges, channels, settings } = deps;
  const { handshake, principal, label, gone } = opening;
  const callId = newId('call');
  await charges.place({
    callId,
    accountId: principal.accountId,
    tokenId: principal.tokenId,
    priceKeys: listPriceKeys(REALTIME_ENDPOINT, handshake.model),
    facts: {},
    label,
    lapsesAt: clock.now() + settings.durationMaxMs + LAPSE_MARGIN_MS,
  });
  const usage = newSessionUsage();
  let channel: string | undefined;
  let endedByUpstream = false;
  try {
    const upstream = await openUpstream(channels.serving(REALTIME_ENDPOINT, handshake.model), handshake, {
      accountId: principal.accountId,
      messageBytesMax: settings.messageBytesMax,
      gone,
      onFailed: refusalLog(deps, opening),
    });
    if (!('socket' in upstream)) return upstream;
    channel = upstream.channel.settings.id;
    try {
      const end = await runConnectedSession(deps, opening, { ...running, upstream, usage });
      endedByUpstream = end.by === 'upstream';
      return end;
    } finally {
      upstream.socket.terminate();
      upstream.channel.permits.release(principal.accountId);
    }
  } finally {
    charges.settle({ callId, charge: usage.charge(endedByUpstream), channel });
  }
}

interface SessionConnection extends SessionHost {
  readonly upstream: OpenUpstream;
  readonly usage: SessionUsage;
}

/** From here on the client's connection is a WebSocket, and a fault can only end it. */
async function runConnectedSession(
  { clock, settings, log }: RealtimeDeps,
  opening: SessionOpening,
  { upstream, usage, stopping, server }: SessionConnection,
): Promise<SessionEnd> {
  const {
    requestId,
    principalNow,
    handshake: { model },
  } = opening;
  const client = await server.accept({ ...opening, protocol: upstream.socket.protocol });
  if (client === undefined) return { by: 'client', code: CLOSE.abnormal };
  try {
    const startedAt = clock.now();
    const assertPermitted = async (): Promise<void> => {
      if (!mayUse(await principalNow(), model)) throw modelNotFound(model);
    };
    const end = await runSession(client, upstream, { clock, settings, usage, stopping, assertPermitted });
    if (end.by === 'upstream' && end.code === CLOSE.internal)
      log.warn(
        { requestId, channel: upstream.channel.settings.id, model, end: 'broken', ms: clock.now() - startedAt },
        'a channel broke off a realtime session',
      );
    return end;
  } catch (error) {
    log.error({ requestId, err: error }, 'a realtime session failed');
    client.terminate();
    return { by: 'gateway', code: CLOSE.internal };
  }
}

/** Logs each channel that did not take a session, and how long the attempt took. */
function refusalLog(
  { clock, log }: RealtimeDeps,
  { requestId, handshake: { model } }: SessionOpening,
): (channel: RelayChannel, end: string) => void {
  let since = clock.now();
  return ({ settings: { id: channel } }, end) => {
    log.warn({ requestId, channel, model, end, ms: clock.now() - since }, 'a channel did not take a realtime session');
    since = clock.now();
  };
}

/** Bounds the sessions that are open or being opened: of the gateway, and of each token. */
interface SessionPermits {
  /** Takes a permit of the token and of the tokens above it until it is released. Refuses with a Problem. */
  acquire(tokenId: string, ...makerIds: readonly string[]): { release(): void };
  inUse(): number;
}

function sessionPermits({ sessionsMax, sessionsPerTokenMax }: RealtimeSettings): SessionPermits {
  const permits = permitsByToken({ total: sessionsMax, perToken: sessionsPerTokenMax });
  return {
    acquire: (tokenId, ...makerIds) => {
      const permit = permits.tryAcquire(tokenId, ...makerIds);
      if (permit === 'token_full') throw tooMany('a token', sessionsPerTokenMax);
      if (permit === 'maker_full')
        throw tooMany('the token that created this one, and all tokens that it created,', sessionsPerTokenMax);
      if (permit === 'all_full') throw gatewayBusy();
      return permit;
    },
    inUse: () => permits.inUse(),
  };
}

function tooMany(who: string, sessionsPerTokenMax: number): Problem {
  return refuse('rate_limit_exceeded', {
    retryAfterMs: 1000,
    message: `${who} may have ${sessionsPerTokenMax} sessions open at the same time`,
  });
}

/** The gateway opens no further session, for any token. */
function gatewayBusy(): Problem {
  return refuse('gateway_busy', {
    message: 'the gateway can open no further session now; try again later',
    retryAfterMs: 1000,
  });
}
