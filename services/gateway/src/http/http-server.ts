import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { HostCheck } from '@reelgate/platform/http/allowed-hosts';
import { healthRoutes } from '@reelgate/platform/http/health-routes';
import type { ReadyCheck } from '@reelgate/platform/lifecycle/readiness';
import type { Metrics } from '@reelgate/platform/metrics/metrics';
import { stopHttp } from '@reelgate/platform/http/http-port';
import type { HttpRoute } from '@reelgate/platform/http/http-port';
import { closeHttp, newRunningRequests } from '@reelgate/platform/http/running-requests';
import { waitForAbort } from '@reelgate/platform/lifecycle/drain';
import type { Drain } from '@reelgate/platform/lifecycle/drain';
import { withoutPrefix } from '@reelgate/platform/http/path-prefix';
import type { HostPort } from '@reelgate/platform/config/units';
import type { CorsSettings } from './cors-settings.ts';
import { crossOrigin } from './cross-origin.ts';

const HEADERS_TIMEOUT_MS = 15_000;
/** Long enough for a body of 64 MiB over a slow connection. */
const REQUEST_TIMEOUT_MS = 300_000;
/** Longer than load balancers keep an idle connection, so that they never use one that is closing. */
const KEEP_ALIVE_MS = 75_000;
/**
 * Connections that wait while the program is busy, as far as the system allows (`net.core.somaxconn`). Linux resets
 * some of those that exceed it. Node's default is 511.
 */
const WAITING_CONNECTIONS_MAX = 4096;

const NO_UPGRADES: Upgrades = { wants: () => false, handle: () => undefined };
const LOOPBACK = /^(127\.|localhost$|::1$)/;
const METRICS_PATH = '/metrics';
const FORWARDING_HEADERS = ['forwarded', 'x-forwarded-for', 'via'];

export interface HttpServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** Connections that change their protocol. A request that `wants` rejects is handled like any other. */
export interface Upgrades {
  wants(request: IncomingMessage): boolean;
  handle(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/** The application behind the public port. */
export interface Application {
  readonly handle: RequestListener;
  readonly upgrades: Upgrades;
}

/** The public port: health from its opening on, and then the application. */
export interface PublicPort extends HttpServer {
  serve(application: Application): void;
  /** Takes requests until the drain closes, and then waits for the running ones. */
  drain(drain: Drain): Promise<void>;
}

export interface PublicPortOptions {
  readonly listen: HostPort;
  /** The path of the public address, if it has one. The port answers below it and without it. */
  readonly prefix?: string;
  readonly ready: ReadyCheck;
  /** Undefined if the admin port serves them. On this port only a local caller can read them. */
  readonly metrics: Metrics | undefined;
  /** Of the metrics: a page in the caller's browser is local too. */
  readonly isAllowedHost: HostCheck;
  /** Refuses requests as temporary until the application is set. */
  readonly starting: RequestListener;
  readonly cors: CorsSettings;
  /** Sees each new connection first, and resets it if there are too many. */
  readonly countConnection: (socket: Socket) => void;
}

export async function openPublicPort({
  listen,
  prefix = '',
  ready,
  metrics,
  isAllowedHost,
  starting,
  cors,
  countConnection,
}: PublicPortOptions): Promise<PublicPort> {
  const requests = newRunningRequests();
  let application: Application = { handle: starting, upgrades: NO_UPGRADES };
  const health = healthRoutes(ready);
  const healthAndMetrics = metrics === undefined || !LOOPBACK.test(listen.host) ? health : healthRoutes(ready, metrics);
  const isLocal = (request: IncomingMessage): boolean => !isForwarded(request) && isAllowedHost(request);
  const answerProbe: HttpRoute = (request, response) =>
    health(request, response) ||
    (request.url === METRICS_PATH && isLocal(request) && healthAndMetrics(request, response));
  const { permit } = crossOrigin(cors);
  const take: RequestListener = (request, response) => {
    request.url = withoutPrefix(request.url ?? '', prefix);
    if (answerProbe(request, response) || permit(request, response)) return;
    requests.add(response);
    application.handle(request, response);
  };
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      ServerResponse: requests.ServerResponse,
      shouldUpgradeCallback: (request) => {
        request.url = withoutPrefix(request.url ?? '', prefix);
        return application.upgrades.wants(request);
      },
    },
    take,
  );
  server.prependListener('connection', countConnection);
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
    application.upgrades.handle(request, socket, head),
  );
  // the body reader sends 100 Continue, after the checks that need only the headers
  server.on('checkContinue', take);
  const { port } = await listenOn(server, listen);
  let closed: Promise<void> | undefined;
  return {
    port,
    serve: (given) => {
      application = given;
    },
    drain: async (drain) => {
      requests.announceStop();
      await waitForAbort(drain.closing);
      await (closed ??= closeHttp(server, requests, drain));
    },
    stop: () => (closed ??= stopHttp(server, requests)),
  };
}

async function listenOn(server: Server, { host, port }: HostPort): Promise<HttpServer> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen({ port, host, backlog: WAITING_CONNECTIONS_MAX }, resolve);
  });
  return { port: (server.address() as AddressInfo).port, stop: () => stopHttp(server) };
}

/** Reports whether a proxy sent the request. A loopback address then does not prove that the caller is local. */
function isForwarded({ headers }: IncomingMessage): boolean {
  return FORWARDING_HEADERS.some((name) => headers[name] !== undefined);
}
