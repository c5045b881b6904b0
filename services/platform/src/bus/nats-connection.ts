import { Events, connect } from 'nats';
import type { ConnectionOptions, NatsConnection } from 'nats';
import type { BusSettings } from './bus-settings.ts';
import type { TlsFiles } from '../tls/tls-material.ts';

const CONNECT_TIMEOUT_MS = 5000;
const SECURE = 'tls:';

/**
 * The pause before one server is dialled again, plus a random part of the same length, so that clients do not arrive at
 * the same time.
 */
export const RECONNECT_MS = 500;

/** A server that vanishes without a word is noticed within three of these. */
const PING_MS = 5000;

/**
 * Connects to one of the servers, and reconnects to any of them while the connection is open. The certificates are read
 * from their files at each connection.
 */
export function connectNats({ servers, tls }: BusSettings): Promise<NatsConnection> {
  const addresses = servers.map((server) => new URL(server.reveal()));
  return connect({
    servers: addresses.map(({ host }) => host),
    ...credentials(addresses[0]),
    ...(tls === undefined && !addresses.some(({ protocol }) => protocol === SECURE) ? {} : { tls: tlsOptions(tls) }),
    timeout: CONNECT_TIMEOUT_MS,
    pingInterval: PING_MS,
    reconnectTimeWait: RECONNECT_MS,
    reconnectJitter: RECONNECT_MS,
    reconnectJitterTLS: RECONNECT_MS,
    maxReconnectAttempts: -1,
    name: 'reelgate',
    // a process notifies its own listeners by itself
    noEcho: true,
  });
}

/** The library does not read them from an address. */
function credentials(address: URL | undefined): ConnectionOptions {
  const [user, pass] = [decodeURIComponent(address?.username ?? ''), decodeURIComponent(address?.password ?? '')];
  if (user === '') return {};
  return pass === '' ? { token: user } : { user, pass };
}

/** With an object, even an empty one, the library refuses a server without TLS. */
function tlsOptions({ ca, certificate, key }: TlsFiles = {}): NonNullable<ConnectionOptions['tls']> {
  return {
    ...(ca === undefined ? {} : { caFile: ca }),
    ...(certificate === undefined ? {} : { certFile: certificate }),
    ...(key === undefined ? {} : { keyFile: key }),
  };
}

export interface ConnectionNumbers {
  /** Undefined while there is no connection. */
  readonly current: () => number | undefined;
  /** The connection is lost, or another one is made. */
  change(connected: boolean): void;
}

/**
 * Numbers the connections of a bus. Another connection has its number once its server has every subscription, which
 * `flush` waits for.
 */
export function numberConnections(flush: () => Promise<void>): ConnectionNumbers {
  let [latest, current]: [number, number | undefined] = [0, 0];
  const confirm = async (own: number): Promise<void> => {
    // a connection that is lost meanwhile is followed by another one
    await flush().catch(() => (latest += 1));
    if (own === latest) current = own;
  };
  return {
    current: () => current,
    change: (connected) => {
      latest += 1;
      current = undefined;
      if (connected) void confirm(latest);
    },
  };
}

/** Reports each change of the connection while it is open. */
export async function followStatus(connection: NatsConnection, tellNow: (connected: boolean) => void): Promise<void> {
  for await (const { type } of connection.status()) {
    if (type === Events.Disconnect) tellNow(false);
    else if (type === Events.Reconnect) tellNow(true);
  }
}
