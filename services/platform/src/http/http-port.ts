import type { RequestListener, Server, ServerResponse, IncomingMessage, ServerOptions } from 'node:http';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { systemClock } from '../clock.ts';
import type { Clock } from '../clock.ts';
import type { HostPort } from '../config/units.ts';
import { waitForAbort } from '../lifecycle/drain.ts';
import type { Drain } from '../lifecycle/drain.ts';
import type { ServerTls } from '../tls/tls-files.ts';
import { toSecureContext } from '../tls/tls-files.ts';
import { refuseHost } from './allowed-hosts.ts';
import type { HostCheck } from './allowed-hosts.ts';
import { closeHttp, newRunningRequests } from './running-requests.ts';
import type { IdleWatch } from './running-requests.ts';
import { newArrivals } from './body-arrivals.ts';
import type { BodyPace } from './body-arrivals.ts';

/** Handles a request that it knows. Otherwise it returns false and leaves the request alone. */
export type HttpRoute = (request: IncomingMessage, response: ServerResponse) => boolean;

const STOP_GRACE_MS = 5000;
const RETRY_S = '1';
const STARTING = '{"code":"unavailable","message":"this replica of the service starts; call again"}';
const STOPPING = '{"code":"unavailable","message":"this replica of the service stops; call again"}';

/** Serves the requests of a port that are not for the operator's routes. */
export interface PortHandler {
  readonly handle: RequestListener;
  /** Ends streams and connections that would not end by themselves. */
  close(): void;
  /** Resolves when all its work has ended, or at the abort. */
  settled(over: AbortSignal): Promise<void>;
}

/** An HTTP port that answers the operator from its opening to its stop. */
export interface HttpPort {
  readonly port: number;
  /** Other requests are refused as temporary before this call. */
  serve(handler: PortHandler): void;
  /** Takes requests until the drain closes, and then waits for the running ones. The operator's are still answered. */
  drain(drain: Drain): Promise<void>;
  stop(): Promise<void>;
}

export interface HttpPortOptions {
  readonly listen: HostPort;
  /** Undefined for plaintext. */
  readonly tls?: ServerTls | undefined;
  /** The operator's routes. */
  readonly health: HttpRoute;
  /** Without it, the port answers to every host. */
  readonly isAllowedHost?: HostCheck | undefined;
  /** The clock of the system by default. */
  readonly clock?: Clock;
}

export async function openHttpPort({
  listen,
  tls,
  health,
  isAllowedHost = () => true,
  clock = systemClock,
}: HttpPortOptions): Promise<HttpPort> {
  const requests = newRunningRequests();
  let handler: PortHandler | undefined;
  let isClosed = false;
  const watchSlow = newSlowRequests(clock);
  const server = newHttpServer(tls, { ServerResponse: requests.ServerResponse }, (request, response) => {
    if (!isAllowedHost(request)) {
      refuseHost(request, response);
      return;
    }
    if (health(request, response)) return;
    if (handler === undefined || isClosed) {
      refuse(response, isClosed ? STOPPING : STARTING);
      return;
    }
    requests.add(response);
    watchSlow(request, response);
    handler.handle(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(listen.port, listen.host, resolve);
  });
  return {
    port: (server.address() as { port: number }).port,
    serve: (given) => {
      handler = given;
    },
    drain: async ({ closing, over }) => {
      requests.announceStop();
      await waitForAbort(closing);
      isClosed = true;
      handler?.close();
      await requests.settled(over);
      if (over.aborted) server.closeAllConnections();
      await handler?.settled(over);
    },
    stop: async () => {
      handler?.close();
      await stopHttp(server, requests);
      await handler?.settled(AbortSignal.timeout(STOP_GRACE_MS));
    },
  };
}

function refuse(response: ServerResponse, body: string): void {
  response
    .writeHead(503, { 'content-type': 'application/json', 'retry-after': RETRY_S, connection: 'close' })
    .end(body);
}

/**
 * Waits for running requests for a limited time, then closes their connections. Idle connections are closed
 * immediately.
 */
export async function stopHttp(server: Server, requests: IdleWatch = { isIdleFor: () => true }): Promise<void> {
  await closeHttp(server, requests, { over: AbortSignal.timeout(STOP_GRACE_MS), idleMs: 0 });
}

const HANDSHAKE_MS_MAX = 10_000;

/**
 * Creates an HTTP server. Its new connections use the newest certificates. Without certificates it speaks plaintext.
 */
function newHttpServer(tls: ServerTls | undefined, options: ServerOptions, listener: RequestListener): Server {
  if (tls === undefined) return createServer(options, listener);
  const { material, clientCertificates } = tls;
  const server = createSecureServer(
    {
      ...options,
      ...toSecureContext(material.current()),
      requestCert: clientCertificates !== 'none',
      rejectUnauthorized: clientCertificates === 'required',
      handshakeTimeout: HANDSHAKE_MS_MAX,
    },
    listener,
  );
  const leave = material.onChange((next) => server.setSecureContext(toSecureContext(next)));
  server.once('close', leave);
  return server;
}

/** The callers of these ports are programs in the same network. */
const PACE: BodyPace = { idleMs: 15_000, bytesPerSecondMin: 2048 };
const TOO_SLOW = '{"code":"deadline_exceeded","message":"the body of the request stopped, or arrived too slowly"}';

interface WatchedRequest {
  readonly stop: () => void;
  /** Counts the bytes since the last measurement. */
  readonly measure: () => void;
}

/**
 * Ends requests when their body arrives too slowly, whichever reader they have: with 408, or with the end of the
 * connection if the answer has begun. It counts the bytes of the connection, so the reader loses no byte.
 */
function newSlowRequests(clock: Clock): (request: IncomingMessage, response: ServerResponse) => void {
  const arrivals = newArrivals<WatchedRequest>(clock, PACE, () => {
    for (const watched of arrivals.list()) watched.measure();
  });
  return (request, response) => {
    if (!hasBody(request)) return;
    let counted = request.socket.bytesRead;
    const watched: WatchedRequest = {
      stop: () => {
        arrivals.remove(watched);
        refuseSlow(request, response);
      },
      measure: () => {
        const read = request.socket.bytesRead;
        if (request.complete) arrivals.remove(watched);
        // the reader is slower than the client
        else if (request.readableLength > 0) arrivals.resume(watched);
        else arrivals.extend(watched, read - counted);
        counted = read;
      },
    };
    arrivals.add(watched);
    response.once('close', () => arrivals.remove(watched));
  };
}

function refuseSlow(request: IncomingMessage, response: ServerResponse): void {
  if (response.headersSent) {
    request.destroy();
    return;
  }
  response
    .writeHead(408, { 'content-type': 'application/json', connection: 'close' })
    .end(TOO_SLOW, () => request.destroy());
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
