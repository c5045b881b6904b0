import type { RequestListener } from 'node:http';
import type { TimeSource } from '@reelgate/platform/clock';
import type { HostCheck } from '@reelgate/platform/http/allowed-hosts';
import { healthRoutes } from '@reelgate/platform/http/health-routes';
import { openHttpPort } from '@reelgate/platform/http/http-port';
import type { HttpPort } from '@reelgate/platform/http/http-port';
import type { NewId } from '@reelgate/platform/ids';
import type { ReadyCheck } from '@reelgate/platform/lifecycle/readiness';
import type { WarningLog } from '@reelgate/platform/log';
import type { Metrics, CounterRegistry } from '@reelgate/platform/metrics/metrics';
import { serviceUnavailable } from '@reelgate/platform/service-unavailable';
import type { CorsSettings } from './cors-settings.ts';
import type { HostPort } from '@reelgate/platform/config/units';
import { toAnswer } from './answer-problem.ts';
import { readOrCreateRequestId } from './headers.ts';
import { openPublicPort } from './http-server.ts';
import type { PublicPort } from './http-server.ts';
import { readRemovedPrefix } from './removed-prefix.ts';
import type { Socket } from 'node:net';
import { networkCheck, readPeer, sourceNetwork } from '@reelgate/platform/source-address';

/** A start without waits takes about this long. */
const RETRY_MS = 2000;

/** The ports of the gateway. They answer health before the gateway has started. */
export interface GatewayPorts {
  readonly public: PublicPort;
  /** Health, metrics and the routes that the program serves for operators; undefined if no such port is configured. */
  readonly admin: HttpPort | undefined;
  /** The hosts that the public port is known by. */
  readonly isAllowedHost: HostCheck;
}

interface PortSettings {
  readonly listen: HostPort;
  /** Undefined if there is no admin port. */
  readonly admin: HostPort | undefined;
  readonly connections: { readonly perSource: number };
  readonly trustedProxies: readonly string[];
  readonly cors: CorsSettings;
}

interface PortParts {
  readonly publicUrl: string;
  readonly metrics: Metrics;
  readonly newId: NewId;
  readonly clock: TimeSource;
  readonly log: WarningLog;
}

export async function openGatewayPorts(
  { listen, admin, connections, trustedProxies, cors }: PortSettings,
  { publicUrl, metrics, newId, clock, log }: PortParts,
  ready: ReadyCheck,
  isAllowedHost: HostCheck,
): Promise<GatewayPorts> {
  const adminPort =
    admin === undefined
      ? undefined
      : await openHttpPort({ listen: admin, health: healthRoutes(ready, metrics), isAllowedHost });
  try {
    const publicPort = await openPublicPort({
      prefix: readRemovedPrefix(publicUrl),
      listen,
      ready,
      isAllowedHost,
      metrics: admin === undefined ? withoutChannels(metrics) : undefined,
      starting: refuseAll(newId),
      cors,
      countConnection: boundConnections(
        { perSourceMax: connections.perSource, trustedProxies },
        { clock, log, metrics },
      ),
    });
    return { public: publicPort, admin: adminPort, isAllowedHost };
  } catch (error) {
    await adminPort?.stop();
    throw error;
  }
}

/** Nothing is begun before the start has ended, so a client can repeat every request. */
function refuseAll(newId: NewId): RequestListener {
  return (request, response) => {
    const requestId = readOrCreateRequestId(request.headers['x-request-id'], newId);
    const [path = '/'] = (request.url ?? '/').split('?');
    const { status, headers, body } = toAnswer(serviceUnavailable(undefined, RETRY_MS), { path, requestId });
    const own = { 'content-type': 'application/json', 'x-request-id': requestId, connection: 'close' };
    response.writeHead(status, { ...headers, ...own }).end(JSON.stringify(body));
  };
}

/** The names of channels appear only on the admin port. */
function withoutChannels(metrics: Metrics): Metrics {
  return { ...metrics, text: (format) => metrics.text(format, 'channel') };
}

/** All addresses together have one line of the log in this time. The metric counts on. */
const LINE_EVERY_MS = 60_000;

export interface ConnectionBounds {
  /** The most connections that one source address has open at once. */
  readonly perSourceMax: number;
  /** A proxy stands for many clients, so its connections are not counted. */
  readonly trustedProxies: readonly string[];
}

export interface BoundConnectionsParts {
  readonly clock: TimeSource;
  readonly log: WarningLog;
  readonly metrics: CounterRegistry;
}

/**
 * Counts the open connections of each source address, and resets a new connection beyond the limit before its first
 * byte is read, so that the system keeps no state of it. The address is the one of the socket; IPv6 counts by its /64.
 */
export function boundConnections(
  { perSourceMax, trustedProxies }: ConnectionBounds,
  { clock, log, metrics }: BoundConnectionsParts,
): (socket: Socket) => void {
  const isTrusted = networkCheck(trustedProxies);
  const refusals = metrics.counter(
    'reelgate_gateway_refused_connections_total',
    'Connections that were reset because their source address had too many open',
  );
  refusals.begin(() => [[]]);
  const open = new Map<string, number>();
  let lastLineAt = Number.NEGATIVE_INFINITY;
  let untold = 0;
  const refuse = (socket: Socket, address: string): void => {
    socket.resetAndDestroy();
    refusals.labels().inc();
    untold += 1;
    if (clock.now() - lastLineAt < LINE_EVERY_MS) return;
    log.warn({ address, refused: untold }, 'a source address has too many connections open; new ones are reset');
    lastLineAt = clock.now();
    untold = 0;
  };
  const leave = (source: string): void => {
    const left = (open.get(source) ?? 0) - 1;
    if (left > 0) open.set(source, left);
    else open.delete(source);
  };
  return (socket) => {
    const address = readPeer(socket.remoteAddress);
    if (isTrusted(address)) return;
    const source = sourceNetwork(address);
    const count = open.get(source) ?? 0;
    if (count >= perSourceMax) {
      refuse(socket, address);
      return;
    }
    open.set(source, count + 1);
    socket.once('close', () => leave(source));
  };
}
