import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, RequestListener } from 'node:http';
import { WebSocket } from 'ws';
import type { ClientOptions } from 'ws';
import { newIds } from '@reelgate/platform/ids';
import { silentLog } from '@reelgate/platform/log';
import { newMetrics } from '@reelgate/platform/metrics/metrics';
import { Problem } from '@reelgate/platform/problem';
import { Secret } from '@reelgate/platform/secret';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import { NEVER_SEEN, RELAY_KEYS, UPSTREAM_MODELS } from '../../../test/harness/relay-upstream/identities.ts';
import type { RealtimeSession } from '../../../test/harness/relay-upstream/realtime.ts';
import { startRelayUpstream } from '../../../test/harness/relay-upstream/relay-upstream.ts';
import type { RelayUpstream } from '../../../test/harness/relay-upstream/relay-upstream.ts';
import { localRateCounters } from '../src/rate-counters/local-rate-counters.ts';
import { openPublicPort } from '../src/http/http-server.ts';
import { realtimeUpgrades } from '../src/relay/routes/realtime-upgrade.ts';
import type { CallCharges } from '../src/relay/charges/call-charges.ts';
import type { CallEnd, CallOrder } from '../src/domain/call-order.ts';
import type { RelayChannelSettings } from '../src/relay/channels/relay-channel-config.ts';
import { newRelayChannels } from '../src/relay/channels/relay-channels.ts';
import type { RelayChannels } from '../src/relay/channels/relay-channels.ts';
import { newRealtime } from '../src/relay/realtime/realtime.ts';
import type { Realtime } from '../src/relay/realtime/realtime.ts';
import type { RealtimeSettings } from '../src/relay/realtime/realtime-settings.ts';
import { until } from '@reelgate/platform/testing/until';
import { NO_TRACING } from '@reelgate/platform/trace/trace';

export const REALTIME_SETTINGS: RealtimeSettings = {
  messageBytesMax: 1_000_000,
  messagesPerSecond: 50,
  durationMaxMs: 600_000,
  pingMs: 20_000,
  sessionsMax: 3,
  sessionsPerTokenMax: 2,
};
export const REALTIME_TOKEN = 'sk-demo-0123456789';
export const OTHER_TOKEN = 'sk-demo-9876543210';

export type DialOptions = ClientOptions & { readonly protocols?: readonly string[] };

export interface ClientSession {
  readonly client: WebSocket;
  /** All messages that arrived, text as strings. */
  readonly got: (string | Buffer)[];
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  /** All messages that arrived at the upstream. */
  readonly there: RealtimeSession;
  say(event: object): void;
}

/** The HTTP answer to a refused handshake. */
interface Refusal {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a body for matchers
  readonly json: any;
}

/** Realtime behind a real port, between real sockets, on a fake clock. It records holds and settlements. */
export interface RealtimeUnderTest {
  readonly clock: FakeClock;
  readonly url: string;
  readonly upstream: RelayUpstream;
  readonly channels: RelayChannels;
  readonly realtime: Realtime;
  readonly orders: readonly CallOrder[];
  readonly settled: readonly CallEnd[];
  channel(id: keyof typeof UPSTREAM_MODELS, more?: Partial<RelayChannelSettings>): RelayChannelSettings;
  /** Sets the refusal of the token from now on; undefined: none. */
  refuseToken(problem: Problem | undefined): void;
  /** Refuses all holds from now on. */
  refuseMoney(problem: Problem): void;
  dial(query?: string, options?: DialOptions): WebSocket;
  /** Dials and waits for the first event. */
  session(query?: string, options?: DialOptions): Promise<ClientSession>;
  refusal(query?: string, options?: DialOptions): Promise<Refusal>;
  stop(): Promise<void>;
}

export async function startRealtimeUnderTest(): Promise<RealtimeUnderTest> {
  const clock = fakeClock();
  const upstream = await startRelayUpstream();
  const orders: CallOrder[] = [];
  const settled: CallEnd[] = [];
  const open: WebSocket[] = [];
  let refused: Problem | undefined;
  const charges: Pick<CallCharges, 'place' | 'settle'> = {
    place: async (order) => {
      if (refused !== undefined) throw refused;
      orders.push(order);
    },
    settle: (end) => void settled.push(end),
  };
  const channel: RealtimeUnderTest['channel'] = (id, more = {}) => ({
    id: `relay-secret-${id}`,
    baseUrl: `http://${upstream.host}/${id}`,
    apiKey: new Secret(RELAY_KEYS[id]!),
    auth: 'bearer',
    asksUsage: true,
    upstreamAccount: undefined,
    openTo: [],
    endpoints: ['realtime'],
    models: { voice: UPSTREAM_MODELS[id] },
    priority: id === 'main' ? 1 : 0,
    weight: 1,
    enabled: true,
    requestsPerMinute: 100,
    inFlightMax: 10,
    firstByteTimeoutMs: 5000,
    idleTimeoutMs: 5000,
    ...more,
  });
  const channels = newRelayChannels(
    [channel('main'), channel('spare'), channel('main', { id: 'text', endpoints: ['chat'], models: { text: 'text' } })],
    { clock, chance: () => 0.5 },
  );
  const realtime = newRealtime({
    clock,
    newId: newIds(clock),
    log: silentLog,
    metrics: newMetrics(false),
    channels,
    charges,
    settings: REALTIME_SETTINGS,
  });
  let noToken: Problem | undefined;
  const server = await startServer(clock, realtime, () => noToken);
  const url = `127.0.0.1:${server.port}`;
  const dial: RealtimeUnderTest['dial'] = (query = 'model=voice', { protocols = [], ...options } = {}) => {
    const socket = new WebSocket(`ws://${url}/v1/realtime?${query}`, [...protocols], {
      headers: { authorization: `Bearer ${REALTIME_TOKEN}` },
      ...options,
    });
    socket.on('error', () => undefined);
    open.push(socket);
    return socket;
  };
  return {
    clock,
    url: `http://${url}`,
    upstream,
    channels,
    realtime,
    orders,
    settled,
    channel,
    dial,
    refuseToken: (problem) => {
      noToken = problem;
    },
    refuseMoney: (problem) => {
      refused = problem;
    },
    session: async (query, options) => {
      const client = dial(query, options);
      const got: (string | Buffer)[] = [];
      client.on('message', (data: Buffer, isBinary) => got.push(isBinary ? data : data.toString()));
      const closed = once(client, 'close').then(([code, reason]) => ({ code: code as number, reason: String(reason) }));
      await until(() => got.length > 0);
      return {
        client,
        got,
        closed,
        there: upstream.sessions.at(-1)!,
        say: (event) => client.send(JSON.stringify(event)),
      };
    },
    refusal: async (query, options) => {
      const [, response] = (await once(dial(query, options), 'unexpected-response')) as [unknown, IncomingMessage];
      const parts: Buffer[] = [];
      for await (const part of response) parts.push(part as Buffer);
      const text = Buffer.concat(parts).toString();
      return { status: response.statusCode, headers: response.headers, text, json: JSON.parse(text) };
    },
    stop: async () => {
      for (const socket of open) socket.terminate();
      await realtime.stop();
      await server.stop();
      await channels.close();
      await upstream.stop();
    },
  };
}

async function startServer(clock: FakeClock, realtime: Realtime, refused: () => Problem | undefined) {
  const principals = {
    of: async (key: string) => {
      if (key !== REALTIME_TOKEN && key !== OTHER_TOKEN)
        throw new Problem({ kind: 'unauthenticated', reason: 'invalid_api_key', message: 'no such token' });
      const problem = refused();
      if (problem !== undefined) throw problem;
      return {
        accountId: 'demo',
        tokenId: key === OTHER_TOKEN ? 'other' : 'token',
        models: ['voice', 'text'],
        expiresAt: undefined,
        webhooks: 'write' as const,
        tokenName: 'ci',
        tokens: 'none' as const,
      };
    },
    drop: () => undefined,
  };
  const admission = {
    principals,
    counters: localRateCounters(clock),
    limits: { bodyBytes: 1, createsPerMinute: 1, readsPerMinute: 1, callsPerMinute: 5 },
  };
  const handle: RequestListener = (_, response) => void response.writeHead(418).end();
  const server = await openPublicPort({
    isAllowedHost: () => true,
    cors: { origins: [], links: false },
    listen: { host: '127.0.0.1', port: 0 },
    ready: async () => true,
    metrics: undefined,
    starting: handle,
    countConnection: () => undefined,
  });
  server.serve({
    handle,
    upgrades: realtimeUpgrades({
      realtime,
      admission,
      readSource: () => '192.0.2.1',
      clock,
      newId: newIds(clock),
      log: silentLog,
      metrics: newMetrics(false),
      tracing: NO_TRACING,
    }),
  });
  return server;
}

export const leaks = (seen: unknown): readonly string[] =>
  NEVER_SEEN.filter((secret) => JSON.stringify(seen).includes(secret));
