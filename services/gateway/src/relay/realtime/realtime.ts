import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import type { Clock } from '@reelgate/platform/clock';
import type { NewId } from '@reelgate/platform/ids';
import type { Log } from '@reelgate/platform/log';
import type { Metrics } from '@reelgate/platform/metrics/metrics';
import { Problem } from '@reelgate/platform/problem';
import type { Principal } from '../../clients/billing-client.ts';
import type { CallCharges, Charge } from '../charges/call-charges.ts';
import { REALTIME_ENDPOINT } from '../endpoints.ts';
import type { RelayChannel, RelayChannels } from '../channels/relay-channels.ts';
import type { PriceKeys } from '../charges/price-keys.ts';
import { CLOSE } from './close-codes.ts';
import type { UpstreamRefusal } from './dial-upstream.ts';
import type { Handshake } from './handshake.ts';
import { leave, openUpstream } from './open-upstream.ts';
import type { OpenUpstream } from './open-upstream.ts';
import type { RealtimeSettings } from './realtime-settings.ts';
import { runSession } from './run-session.ts';
import type { SessionEnd } from './run-session.ts';
import { busy, sessionPlaces } from './session-places.ts';
import { openSessionUsage } from './session-usage.ts';

/** Dialling, closing and settling take less; then billing charges the hold by itself. */
const LAPSE_MARGIN_MS = 3_600_000;
const EVERY = '*';

/** A handshake whose caller is known, and the connection that it came on. */
export interface Opening {
  readonly handshake: Handshake;
  readonly principal: Principal;
  /** Who holds the token by now; refuses with a Problem. */
  readonly principalNow: () => Promise<Principal>;
  readonly requestId: string;
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  /** Aborted when the client has left. */
  readonly gone: AbortSignal;
}

/** Sessions between clients and upstreams. */
export interface Realtime {
  /** Runs a session to its end, or gives an upstream's refusal; throws a Problem, only while the connection still speaks HTTP. */
  serve(opening: Opening): Promise<UpstreamRefusal | SessionEnd>;
  /** Takes no more, ends those that run, and waits for them. */
  stop(): Promise<void>;
}

export interface RealtimeDeps {
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly channels: RelayChannels;
  readonly charges: CallCharges;
  readonly priceKeys: PriceKeys;
  readonly settings: RealtimeSettings;
}

interface Accepted {
  readonly requestId: string;
  /** The subprotocol that the upstream has chosen; empty: none. */
  readonly protocol: string;
}

/** Money is held before an upstream is dialled, and settled once, whichever way the session ends. */
export function openRealtime(deps: RealtimeDeps): Realtime {
  const { clock, newId, charges, priceKeys, channels, settings, metrics } = deps;
  const accepted = new WeakMap<IncomingMessage, Accepted>();
  const server = newServer(settings, accepted);
  const running = new Set<Promise<unknown>>();
  const places = sessionPlaces(settings);
  const stopping = new AbortController();
  metrics.gauge('reelgate_relay_realtime_sessions', 'Realtime sessions that are open or being opened', [], (gauge) =>
    gauge.labels().set(places.taken()),
  );

  const begin = async (opening: Opening): Promise<UpstreamRefusal | SessionEnd> => {
    const {
      handshake: { model },
      principal: { accountId, tokenId },
    } = opening;
    const callId = newId('call');
    const order = {
      callId,
      accountId,
      tokenId,
      priceKeys: priceKeys(REALTIME_ENDPOINT, model),
      facts: {},
      lapsesAt: clock.now() + settings.durationMaxMs + LAPSE_MARGIN_MS,
    };
    await charges.place(order);
    const usage = openSessionUsage();
    try {
      const upstream = await openUpstream(channels.serving(REALTIME_ENDPOINT, model), opening.handshake, {
        messageBytesMax: settings.messageBytesMax,
        gone: opening.gone,
        onFailed: refusalLog(deps, opening),
      });
      if (!('socket' in upstream)) return upstream;
      try {
        return await between(deps, opening, {
          upstream,
          usage,
          stopping: stopping.signal,
          accept: () => accept(server, accepted, opening, upstream),
        });
      } finally {
        upstream.socket.terminate();
        leave(upstream.channel);
      }
    } finally {
      charges.settle(callId, usage.charge());
    }
  };

  return {
    serve: async (opening) => {
      const {
        handshake: { model },
        principal,
      } = opening;
      assertSees(principal, model);
      if (channels.serving(REALTIME_ENDPOINT, model).length === 0) throw unknownModel(model);
      if (stopping.signal.aborted) throw busy();
      const place = places.take(principal.tokenId);
      const session = begin(opening);
      running.add(session);
      try {
        return await session;
      } finally {
        running.delete(session);
        place.giveBack();
      }
    },
    stop: async () => {
      stopping.abort();
      await Promise.allSettled(running);
      server.close();
    },
  };
}

interface Between {
  readonly upstream: OpenUpstream;
  readonly usage: { see(message: Buffer): void; charge(): Charge };
  readonly stopping: AbortSignal;
  readonly accept: () => Promise<WebSocket | undefined>;
}

/** From here on the client's connection is a WebSocket, and a fault can only end it. */
async function between(
  { clock, settings, log }: RealtimeDeps,
  { requestId, principalNow, handshake: { model } }: Opening,
  { upstream, usage, stopping, accept: open }: Between,
): Promise<SessionEnd> {
  const client = await open();
  if (client === undefined) return { by: 'client', code: 1006 };
  try {
    const startedAt = clock.now();
    const end = await runSession(client, upstream, {
      clock,
      settings,
      usage,
      stopping,
      mayGoOn: async () => {
        assertSees(await principalNow(), model);
      },
    });
    if (end.by === 'upstream' && end.code === CLOSE.internal)
      log.warn(
        { requestId, channel: upstream.channel.settings.id, model, end: 'broken', ms: clock.now() - startedAt },
        'a channel broke a realtime session off',
      );
    return end;
  } catch (error) {
    log.error({ requestId, err: error }, 'a realtime session failed');
    client.terminate();
    return { by: 'gateway', code: 1011 };
  }
}

/** Tells the operator of each channel that did not take a session, and how long that took. */
function refusalLog(
  { clock, log }: RealtimeDeps,
  { requestId, handshake: { model } }: Opening,
): (channel: RelayChannel, end: string) => void {
  let since = clock.now();
  return ({ settings: { id: channel } }, end) => {
    log.warn({ requestId, channel, model, end, ms: clock.now() - since }, 'a channel did not take a realtime session');
    since = clock.now();
  };
}

function newServer(
  { messageBytesMax }: RealtimeSettings,
  accepted: WeakMap<IncomingMessage, Accepted>,
): WebSocketServer {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: messageBytesMax,
    handleProtocols: (_, request) => accepted.get(request)?.protocol || false,
  });
  server.on('headers', (headers, request) => {
    headers.push(`x-request-id: ${accepted.get(request)?.requestId ?? ''}`);
  });
  return server;
}

/** The client's side, once the upstream's is open; undefined when the client has left meanwhile. */
function accept(
  server: WebSocketServer,
  accepted: WeakMap<IncomingMessage, Accepted>,
  { request, requestId, socket, head, gone }: Opening,
  { socket: upstream }: OpenUpstream,
): Promise<WebSocket | undefined> {
  if (gone.aborted) return Promise.resolve(undefined);
  accepted.set(request, { requestId, protocol: upstream.protocol });
  return new Promise((resolve) => {
    gone.addEventListener('abort', () => resolve(undefined), { once: true });
    server.handleUpgrade(request, socket, head, (client) => {
      // What goes wrong ends in the close that follows it.
      client.on('error', () => undefined);
      resolve(client);
    });
  });
}

function assertSees({ models }: Principal, model: string): void {
  if (!models.includes(EVERY) && !models.includes(model)) throw unknownModel(model);
}

function unknownModel(model: string): Problem {
  return new Problem({
    kind: 'not_found',
    reason: 'model_not_found',
    field: 'model',
    message: `${JSON.stringify(model.slice(0, 64))} is not a model that this token can use here; GET /v1/models lists those that it can`,
  });
}
