import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { DescMethod, Message } from '@bufbuild/protobuf';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { createContextKey, createContextValues } from '@connectrpc/connect';
import type { ConnectRouter, ContextValues, HandlerContext } from '@connectrpc/connect';
import { systemClock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { closeHttp, openRunningRequests } from '../http/running-requests.ts';
import type { RunningRequests } from '../http/running-requests.ts';
import { aborted } from '../lifecycle/drain.ts';
import { logRequest } from '../http/log-request.ts';
import { inRequest, requestIdIn } from '../request-context.ts';
import type { HostPort } from '../config/units.ts';
import type { IdentifyCaller, PeerNames } from './callers.ts';
import { openRunningCalls } from './call-bounds.ts';
import type { CallBounds } from './call-bounds.ts';
import { deprecations } from './deprecations.ts';
import type { RpcServer } from './grpc-server.ts';
import { isFault, toConnectError } from './problems.ts';
import { servedMethod } from './served-method.ts';
import type { IncomingCall, ServedMethod, Serving } from './served-method.ts';
import { MESSAGE_BYTES_MAX } from './service.ts';
import type { Binding } from './service.ts';
import { openRunningStreams } from './streams.ts';
import { newHttpServer } from '../tls/http-server.ts';
import { namesOfPeer } from '../tls/peer-names.ts';
import type { ServerTls } from '../tls/server-tls.ts';

const STOP_GRACE_MS = 5000;
const STOPPING_RETRY_S = '1';

/** Handles a request that it knows. Otherwise it gives false and does nothing. */
export type HttpRoute = (request: IncomingMessage, response: ServerResponse) => boolean;

export interface ConnectServerOptions {
  readonly listen: HostPort;
  readonly bindings: readonly Binding[];
  readonly identify: IdentifyCaller;
  /** Absent: plaintext. */
  readonly tls?: ServerTls | undefined;
  readonly log: Log;
  readonly metrics?: Pick<Metrics, 'counter'> | undefined;
  /** Plain HTTP routes, tried in order before the RPCs. */
  readonly routes: readonly HttpRoute[];
  /** Routes of the operator, tried first. During a drain they are answered to the end. */
  readonly health?: HttpRoute | undefined;
}

/** The second port of a service: the same RPCs over Connect, gRPC-web and JSON, and its plain HTTP routes. */
export async function startConnectServer({
  listen,
  bindings,
  identify,
  tls,
  log,
  metrics,
  routes,
  health = () => false,
}: ConnectServerOptions): Promise<RpcServer> {
  const calls = openRunningCalls(log);
  const streams = openRunningStreams();
  const rpc = connectNodeAdapter({
    routes: (router) => {
      mount(router, bindings, { identify, calls, streams, deprecations: deprecations(metrics), log });
    },
    readMaxBytes: MESSAGE_BYTES_MAX,
    writeMaxBytes: MESSAGE_BYTES_MAX,
    ...(tls === undefined ? {} : { contextValues: peerOf }),
  });
  const requests = openRunningRequests();
  let isClosed = false;
  const take: RequestListener = (request, response) => {
    if (health(request, response)) return;
    if (isClosed) {
      refuse(response);
      return;
    }
    requests.add(response);
    inRequest(requestIdIn(request.headers['x-request-id']), () => {
      if (routes.some((route) => route(request, response))) logRequest(log, request, response);
      else rpc(request, response);
    });
  };
  const server = newHttpServer(tls, { ServerResponse: requests.ServerResponse }, take);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(listen.port, listen.host, resolve);
  });
  return {
    port: (server.address() as { port: number }).port,
    drain: async ({ closing, over }) => {
      requests.announceStop();
      await aborted(closing);
      isClosed = true;
      streams.stop();
      await requests.settled(over);
      if (over.aborted) server.closeAllConnections();
      await calls.settled(over);
    },
    stop: async () => {
      streams.stop();
      await stopHttp(server, requests);
      await calls.settled(AbortSignal.timeout(STOP_GRACE_MS));
    },
  };
}

/** The operator still needs the port. A new request is for another replica. */
function refuse(response: ServerResponse): void {
  response
    .writeHead(503, { 'content-type': 'application/json', 'retry-after': STOPPING_RETRY_S, connection: 'close' })
    .end('{"code":"unavailable","message":"this replica of the service stops; call again"}');
}

function mount(router: ConnectRouter, bindings: readonly Binding[], serving: Serving): void {
  for (const binding of bindings) {
    const handlers = binding.service.methods.map((method) => [
      method.localName,
      handlerOf(method, servedMethod(binding, method, serving), serving.log),
    ]);
    router.service(binding.service, Object.fromEntries(handlers) as never);
  }
}

type Handler = (request: never, context: HandlerContext) => Promise<Message> | AsyncIterable<Message>;
type Refuse = (thrown: unknown) => unknown;
type HandlerOf = (served: ServedMethod, refuse: Refuse) => Handler;

const HANDLERS: Readonly<Record<DescMethod['methodKind'], HandlerOf>> = {
  unary: (served, refuse) => (request, context) => served.unary(incoming(context), request).catch(rethrow(refuse)),
  client_streaming: (served, refuse) => (requests, context) =>
    served.clientStream(incoming(context), requests).catch(rethrow(refuse)),
  server_streaming: (served, refuse) =>
    async function* (request, context) {
      try {
        yield* served.serverStream(incoming(context), request);
      } catch (thrown) {
        throw refuse(thrown);
      }
    },
  bidi_streaming: () => {
    throw new Error('a stream in both directions is not supported');
  },
};

function handlerOf(method: DescMethod, served: ServedMethod, log: Log): Handler {
  return HANDLERS[method.methodKind](served, (thrown) => {
    if (isFault(thrown)) log.error({ method: method.name, err: thrown }, 'a call failed');
    return toConnectError(thrown);
  });
}

function rethrow(refuse: Refuse): (thrown: unknown) => never {
  return (thrown) => {
    throw refuse(thrown);
  };
}

const PEER_NAMES = createContextKey<PeerNames>(() => []);

/** Only the request of Node knows the connection. */
function peerOf({ socket }: Pick<IncomingMessage, 'socket'>): ContextValues {
  return createContextValues().set(PEER_NAMES, () => namesOfPeer(socket));
}

function incoming(context: HandlerContext): IncomingCall {
  return {
    authorization: context.requestHeader.get('authorization') ?? undefined,
    peerNames: context.values.get(PEER_NAMES),
    requestId: requestIdIn(context.requestHeader.get('x-request-id') ?? undefined),
    bounds: boundsOf(context),
    setHeader: (name, value) => {
      context.responseHeader.set(name, value);
    },
  };
}

function boundsOf({ signal, timeoutMs }: HandlerContext): CallBounds {
  const left = timeoutMs();
  return { deadline: left === undefined ? undefined : systemClock.now() + left, gone: signal };
}

/** Waits for running requests for a limited time, then closes their connections. Idle connections are closed at once. */
export async function stopHttp(
  server: Server,
  requests: Pick<RunningRequests, 'isIdleFor'> = { isIdleFor: () => true },
): Promise<void> {
  await closeHttp(server, requests, { over: AbortSignal.timeout(STOP_GRACE_MS), idleMs: 0 });
}
