import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type {
  DescMethod,
  DescMethodClientStreaming,
  DescMethodServerStreaming,
  DescMethodUnary,
  JsonReadOptions,
} from '@bufbuild/protobuf';
import { ConnectError, createContextKey, createContextValues } from '@connectrpc/connect';
import type { ConnectRouter, ContextValues, HandlerContext } from '@connectrpc/connect';
import { ProblemSchema } from '@reelgate/proto/problem/v1/problem';
import { systemClock } from '../../clock.ts';
import type { HostPort } from '../../config/units.ts';
import { openHttpPort } from '../../http/http-port.ts';
import type { HttpPort, PortHandler, HttpRoute } from '../../http/http-port.ts';
import { newWrongKeys } from '../../limits/wrong-keys.ts';
import type { Log } from '../../log.ts';
import type { CounterRegistry } from '../../metrics/metrics.ts';
import { inRequest, readRequestId } from '../../request-context.ts';
import { readPeer } from '../../source-address.ts';
import { readPeerNames } from '../../tls/peer-names.ts';
import type { ServerTls } from '../../tls/tls-files.ts';
import type { TraceContinuer } from '../../trace/trace.ts';
import { NO_TRACING } from '../../trace/trace.ts';
import { newRunningCalls } from '../call-bounds.ts';
import type { CallBounds } from '../call-bounds.ts';
import { TRACE_HEADER } from '../call-span.ts';
import type { IdentifyCaller, PeerNames } from '../callers.ts';
import { newBodyBounds } from './bodies.ts';
import { newRefusals } from './refusals.ts';
import { deprecations } from '../deprecations.ts';
import { fromConnectError, isFault, toConnectError } from '../problems.ts';
import { identifyCaller, newServedMethod } from '../served-method.ts';
import type { IncomingCall, Peer, ServedMethod } from '../served-method.ts';
import { MESSAGE_BYTES_MAX } from '../service.ts';
import type { Binding } from '../service.ts';
import { newRunningStreams } from '../streams.ts';
import { readStrictJson } from '../strict-json.ts';

const READS: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD']);
/** The status if the client left before the answer. */
const CLIENT_GONE = 499;
/** From this status on a request was refused, or failed. */
const REFUSED = 400;

export interface ConnectServerOptions {
  readonly listen: HostPort;
  readonly bindings: readonly Binding[];
  readonly identify: IdentifyCaller;
  /** Undefined for plaintext. */
  readonly tls?: ServerTls | undefined;
  readonly log: Log;
  readonly metrics?: CounterRegistry | undefined;
  /** Plain HTTP routes, tried in order before the RPCs. */
  readonly routes: readonly HttpRoute[];
  /** Routes of the operator, tried first. During a drain they are answered to the end. */
  readonly health?: HttpRoute | undefined;
  /** Without it, no call is recorded. */
  readonly tracing?: TraceContinuer | undefined;
}

/** The second port of a service: the same RPCs over Connect, gRPC-web and JSON, and its plain HTTP routes. */
export async function startConnectServer({
  listen,
  tls,
  health = () => false,
  ...options
}: ConnectServerOptions): Promise<HttpPort> {
  const port = await openHttpPort({ listen, tls, health });
  port.serve(connectHandler({ ...options, hasTls: tls !== undefined }));
  return port;
}

export interface ConnectOptions extends Omit<ConnectServerOptions, 'listen' | 'tls' | 'health'> {
  readonly hasTls: boolean;
}

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Serves RPCs and plain routes on a port that is open. The first RPC loads Connect: people call this port, and most
 * processes never serve one.
 */
export function connectHandler({
  bindings,
  identify,
  hasTls,
  log,
  metrics,
  routes,
  tracing = NO_TRACING,
}: ConnectOptions): PortHandler {
  const calls = newRunningCalls(log);
  const wrongKeys = newWrongKeys({ door: 'callers', clock: systemClock, log, metrics });
  const streams = newRunningStreams();
  const serving = { identify, wrongKeys, calls, streams, deprecations: deprecations(metrics), log, tracing };
  const mounts = bindings.flatMap((binding) =>
    binding.service.methods.map((method) => newMount(method, newServedMethod(binding, method, serving), log)),
  );
  const boundBody = newBodyBounds();
  let mounted: Promise<Serve> | undefined;
  const rpc: Serve = (request, response) => {
    boundBody(request, response, () => identifyCaller(serving, toPeer(request, hasTls)));
    mounted ??= mountConnect(mounts, hasTls);
    mounted.then(
      (serve) => serve(request, response),
      (error: unknown) => {
        log.error({ err: error }, 'Connect cannot be served');
        response.destroy();
      },
    );
  };
  return {
    handle: (request, response) =>
      inRequest(readRequestId(request.headers['x-request-id']), () => {
        if (routes.some((route) => route(request, response))) logRequest(log, request, response);
        else rpc(request, response);
      }),
    close: () => streams.stop(),
    settled: (over) => calls.settled(over),
  };
}

async function mountConnect(mounts: readonly Mount[], hasTls: boolean): Promise<Serve> {
  const { connectNodeAdapter } = await import('@connectrpc/connect-node');
  let refuse = newRefusals([]);
  const serve = connectNodeAdapter({
    routes: (router) => {
      for (const mount of mounts) mount(router);
      refuse = newRefusals(router.handlers);
    },
    readMaxBytes: MESSAGE_BYTES_MAX,
    writeMaxBytes: MESSAGE_BYTES_MAX,
    contextValues: (request) => toPeerContext(request, hasTls),
  });
  return (request, response) => {
    if (!refuse(request, response)) serve(request, response);
  };
}

/** Adds a method to a router. */
type Mount = (router: ConnectRouter) => void;

/** Throws if the kind of the method is not served. */
function newMount(method: DescMethod, served: ServedMethod, log: Log): Mount {
  const refuse = (thrown: unknown): never => {
    if (isFault(thrown)) log.error({ method: method.name, err: thrown }, 'a call failed');
    throw toConnectError(thrown);
  };
  const options = { jsonOptions: strictJsonOptions(method) };
  switch (method.methodKind) {
    case 'unary':
      return (router) =>
        router.rpc(
          method as DescMethodUnary,
          (request, context) => served.unary(toIncomingCall(context), request).catch(refuse),
          options,
        );
    case 'client_streaming':
      return (router) =>
        router.rpc(
          method as DescMethodClientStreaming,
          (requests, context) => served.clientStream(toIncomingCall(context), readRequests(requests)).catch(refuse),
          options,
        );
    case 'server_streaming':
      return (router) =>
        router.rpc(
          method as DescMethodServerStreaming,
          async function* (request, context) {
            try {
              yield* served.serverStream(toIncomingCall(context), request);
            } catch (thrown) {
              refuse(thrown);
            }
          },
          options,
        );
    case 'bidi_streaming':
      throw new Error('a stream in both directions is not supported');
  }
}

/** The library reads the text of a message with this decoder, in each of its protocols. */
function strictJsonOptions({ input }: DescMethod): Partial<JsonReadOptions> {
  const decode = (bytes: Uint8Array): string => {
    try {
      return readStrictJson(input, bytes);
    } catch (thrown) {
      throw toConnectError(thrown);
    }
  };
  const options = { ignoreUnknownFields: false, textDecoder: { decode } };
  return options;
}

/** A message that cannot be read ends a stream with the refusal of its reader, as in a call of one message. */
async function* readRequests(requests: AsyncIterable<object>): AsyncGenerator<object> {
  try {
    yield* requests;
  } catch (thrown) {
    const isRefusal = thrown instanceof ConnectError && thrown.findDetails(ProblemSchema).length > 0;
    throw isRefusal ? fromConnectError(thrown) : thrown;
  }
}

/** Reads the facts about the caller of a request from its head and its connection. */
function toPeer({ headers: { authorization }, socket }: IncomingMessage, hasTls: boolean): Peer {
  return {
    authorization,
    peerNames: () => (hasTls ? readPeerNames(socket) : []),
    peerAddress: () => readPeer(socket.remoteAddress),
  };
}

const PEER_ADDRESS = createContextKey<() => string>(() => readPeer(undefined));
const PEER_NAMES = createContextKey<PeerNames>(() => []);

/** Only the request of Node knows the connection. */
function toPeerContext({ socket }: { readonly socket: Socket }, hasTls: boolean): ContextValues {
  const values = createContextValues().set(PEER_ADDRESS, () => readPeer(socket.remoteAddress));
  return hasTls ? values.set(PEER_NAMES, () => readPeerNames(socket)) : values;
}

function toIncomingCall(context: HandlerContext): IncomingCall {
  return {
    authorization: context.requestHeader.get('authorization') ?? undefined,
    peerNames: context.values.get(PEER_NAMES),
    peerAddress: context.values.get(PEER_ADDRESS),
    requestId: readRequestId(context.requestHeader.get('x-request-id') ?? undefined),
    carrier: context.requestHeader.get(TRACE_HEADER) ?? undefined,
    bounds: readBounds(context),
    setHeader: (name, value) => context.responseHeader.set(name, value),
  };
}

function readBounds({ signal, timeoutMs }: HandlerContext): CallBounds {
  const left = timeoutMs();
  return { deadline: left === undefined ? undefined : systemClock.now() + left, gone: signal };
}

/**
 * Writes one line for a request when it ends: at debug if it reads, at info otherwise. Of the path it has the first
 * name only, because the rest may be a capability.
 */
function logRequest(log: Log, request: IncomingMessage, response: ServerResponse): void {
  const { method, url = '' } = request;
  const startedAt = systemClock.now();
  const route = /^\/[^/?]*/.exec(url)?.[0];
  response.once('close', () => {
    const status = response.writableFinished ? response.statusCode : CLIENT_GONE;
    const line = { level: READS.has(method) ? 'debug' : 'info', failed: status >= REFUSED } as const;
    log.access(line, { method, route, status, ms: systemClock.now() - startedAt }, 'request');
  });
}
