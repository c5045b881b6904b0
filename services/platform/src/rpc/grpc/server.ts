import type { DescMethod } from '@bufbuild/protobuf';
import { Metadata, Server, ServerInterceptingCall } from '@grpc/grpc-js';
import type {
  ServerInterceptor,
  ServerReadableStream,
  ServerUnaryCall,
  ServerWritableStream,
  UntypedHandleCall,
  UntypedServiceImplementation,
  sendUnaryData,
  status,
} from '@grpc/grpc-js';
import type { Log } from '../../log.ts';
import { systemClock } from '../../clock.ts';
import { newWrongKeys } from '../../limits/wrong-keys.ts';
import type { CounterRegistry } from '../../metrics/metrics.ts';
import { waitForAbort } from '../../lifecycle/drain.ts';
import type { Drain } from '../../lifecycle/drain.ts';
import { inRequest } from '../../request-context.ts';
import { ALWAYS_READY } from '../../lifecycle/readiness.ts';
import type { Readiness } from '../../lifecycle/readiness.ts';
import type { HostPort } from '../../config/units.ts';
import type { IdentifyCaller } from '../callers.ts';
import { newRunningCalls } from '../call-bounds.ts';
import { compressAnswers } from './compression.ts';
import { deprecations } from '../deprecations.ts';
import { toServiceDefinition } from './definition.ts';
import { readCallPeer, toIncomingCall } from './incoming.ts';
import { addReflection } from './introspection.ts';
import { isFault, toConnectError, encodeStatusDetails } from '../problems.ts';
import { identifyCaller, newServedMethod } from '../served-method.ts';
import type { CallerDeps, ServedMethod, ServingDeps } from '../served-method.ts';
import { MESSAGE_BYTES_MAX } from '../service.ts';
import type { Binding } from '../service.ts';
import { serverCredentials } from '../../tls/grpc-credentials.ts';
import type { ServerTls } from '../../tls/tls-files.ts';
import type { TraceContinuer } from '../../trace/trace.ts';
import { NO_TRACING } from '../../trace/trace.ts';
import { serveStatus } from './serving-status.ts';
import { STREAM_MS_MAX, newRunningStreams } from '../streams.ts';
import { wholeRequests } from './incoming.ts';

const CONNECTION_AGE_MS = 2 * 60_000;
/** The longest stream ends by itself before its connection is closed. */
const CONNECTION_GRACE_MS = STREAM_MS_MAX + 30_000;
const STOP_GRACE_MS = 5000;

/** Pings that a client must answer. Clients may ping as often as they like: grpc-js does not count their pings. */
export interface Keepalive {
  readonly everyMs: number;
  readonly answeredWithinMs: number;
}

const KEEPALIVE: Keepalive = { everyMs: 30_000, answeredWithinMs: 20_000 };

export interface GrpcServerOptions {
  readonly listen: HostPort;
  readonly bindings: readonly Binding[];
  readonly identify: IdentifyCaller;
  /** Undefined for plaintext. */
  readonly tls?: ServerTls | undefined;
  readonly log: Log;
  /** The pings that detect a vanished client of a long stream. */
  readonly keepalive?: Keepalive | undefined;
  /** After it, and up to a tenth more or less, a connection takes no new calls, and its client resolves names again. */
  readonly connectionAgeMs?: number | undefined;
  readonly metrics?: CounterRegistry | undefined;
  /** The readiness behind its health service. Without it, the service is healthy while the server listens. */
  readonly readiness?: Readiness | undefined;
  /** Without it, no call is recorded. */
  readonly tracing?: TraceContinuer | undefined;
}

export interface RpcServer {
  readonly port: number;
  /** Takes calls until the drain closes, and then waits for the running ones. */
  drain(drain: Drain): Promise<void>;
  stop(): Promise<void>;
}

/**
 * A gRPC server with health and reflection. It closes old connections at intervals, so that callers find new replicas.
 */
export async function startGrpcServer({
  listen,
  bindings,
  identify,
  tls,
  log,
  keepalive = KEEPALIVE,
  connectionAgeMs = CONNECTION_AGE_MS,
  metrics,
  readiness = ALWAYS_READY,
  tracing = NO_TRACING,
}: GrpcServerOptions): Promise<RpcServer> {
  const calls = newRunningCalls(log);
  const wrongKeys = newWrongKeys({ door: 'callers', clock: systemClock, log, metrics });
  const server = new Server({
    interceptors: [refuseStrangers(bindings, { identify, wrongKeys }), compressAnswers],
    // Its statistics of each call are read by no part of the program.
    'grpc.enable_channelz': 0,
    'grpc.max_receive_message_length': MESSAGE_BYTES_MAX,
    'grpc.max_send_message_length': MESSAGE_BYTES_MAX,
    'grpc.keepalive_time_ms': keepalive.everyMs,
    'grpc.keepalive_timeout_ms': keepalive.answeredWithinMs,
    'grpc.max_connection_age_ms': connectionAgeMs,
    'grpc.max_connection_age_grace_ms': CONNECTION_GRACE_MS,
  });
  const streams = newRunningStreams();
  for (const binding of bindings)
    server.addService(
      toServiceDefinition(binding.service),
      newHandlers(binding, { identify, wrongKeys, calls, streams, deprecations: deprecations(metrics), log, tracing }),
    );
  const health = await serveStatus(
    server,
    bindings.map(({ service }) => service.typeName),
    readiness,
  );
  addReflection(server, bindings);
  const port = await bindPort(server, listen, tls).catch((error: unknown) => {
    health.close();
    throw error;
  });
  const close = async (over: AbortSignal): Promise<void> => {
    streams.stop();
    health.close();
    await shutDown(server, over);
    await calls.settled(over);
  };
  let closed: Promise<void> | undefined;
  return {
    port,
    drain: async ({ closing, over }) => {
      await waitForAbort(closing);
      await (closed ??= close(over));
    },
    stop: () => (closed ??= close(AbortSignal.timeout(STOP_GRACE_MS))),
  };
}

/**
 * Refuses a call of an unknown caller before its message is read, because each message of a stranger would take memory
 * up to its maximum size. Health and reflection have no callers.
 */
function refuseStrangers(bindings: readonly Binding[], serving: CallerDeps): ServerInterceptor {
  const paths = new Set(
    bindings.flatMap(({ service }) => service.methods.map(({ name }) => `/${service.typeName}/${name}`)),
  );
  return ({ path }, given) => {
    const call = given as unknown as ServerInterceptingCall;
    if (!paths.has(path)) return call;
    try {
      identifyCaller(serving, readCallPeer(given as unknown as Parameters<typeof readCallPeer>[0]));
      return call;
    } catch (refusal) {
      const refuse = (): void => call.sendStatus(toFailure(refusal));
      return new ServerInterceptingCall(call, {
        start: (next) => next({ onReceiveMetadata: refuse }),
      });
    }
  };
}

/** Listens, and returns the port. */
function bindPort(server: Server, listen: HostPort, tls: ServerTls | undefined): Promise<number> {
  const host = listen.host.includes(':') ? `[${listen.host}]` : listen.host;
  return new Promise((resolve, reject) =>
    server.bindAsync(`${host}:${listen.port}`, serverCredentials(tls), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    }),
  );
}

function newHandlers(binding: Binding, serving: ServingDeps): UntypedServiceImplementation {
  return Object.fromEntries(
    binding.service.methods.map((method) => [
      method.localName,
      HANDLERS[method.methodKind](newServedMethod(binding, method, serving), (thrown) => {
        if (isFault(thrown)) serving.log.error({ method: method.name, err: thrown }, 'a call failed');
        return toFailure(thrown);
      }),
    ]),
  );
}

type Refuse = (thrown: unknown) => Failure;
type NewHandler = (served: ServedMethod, refuse: Refuse) => UntypedHandleCall;

const HANDLERS: Readonly<Record<DescMethod['methodKind'], NewHandler>> = {
  unary: (served, refuse) => (call: ServerUnaryCall<object, unknown>, done: sendUnaryData<unknown>) => {
    const told = toIncomingCall(call);
    inRequest(told.requestId, () => answer(served.unary(told, call.request), done, refuse));
  },
  client_streaming: (served, refuse) => (call: ServerReadableStream<object, unknown>, done: sendUnaryData<unknown>) => {
    const told = toIncomingCall(call);
    inRequest(told.requestId, () => answer(served.clientStream(told, wholeRequests(call)), done, refuse));
  },
  server_streaming: (served, refuse) => (call: ServerWritableStream<object, unknown>) => {
    const told = toIncomingCall(call);
    inRequest(told.requestId, () => {
      sendAll(call, served.serverStream(told, call.request)).catch((thrown: unknown) => {
        call.emit('error', refuse(thrown));
      });
    });
  },
  bidi_streaming: () => {
    throw new Error('a stream in both directions is not supported');
  },
};

function answer(work: Promise<unknown>, done: sendUnaryData<unknown>, refuse: Refuse): void {
  work.then(
    (message) => done(null, message),
    (thrown: unknown) => done(refuse(thrown)),
  );
}

/** Takes the next message of the method only when the connection has room for it. */
async function sendAll(call: ServerWritableStream<object, unknown>, messages: AsyncIterable<unknown>): Promise<void> {
  for await (const message of messages) {
    if (!call.write(message)) await waitForRoom(call);
  }
  call.end();
}

/** Resolves when the call takes messages again, or when its caller has left. */
function waitForRoom(call: ServerWritableStream<object, unknown>): Promise<void> {
  return new Promise((resolve) => {
    const events = ['drain', 'cancelled', 'close'];
    const go = (): void => {
      for (const event of events) call.off(event, go);
      resolve();
    };
    if (call.cancelled) resolve();
    else for (const event of events) call.on(event, go);
  });
}

interface Failure {
  readonly code: status;
  readonly details: string;
  readonly metadata: Metadata;
}

function toFailure(thrown: unknown): Failure {
  const error = toConnectError(thrown);
  const metadata = new Metadata();
  if (error.details.length > 0) metadata.set('grpc-status-details-bin', encodeStatusDetails(error));
  return { code: error.code as unknown as status, details: error.rawMessage, metadata };
}

/** Asks every client to connect elsewhere, and waits for the running calls. Calls that last too long are cut off. */
async function shutDown(server: Server, over: AbortSignal): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    server.tryShutdown(() => resolve());
  });
  await Promise.race([ended, waitForAbort(over)]);
  if (over.aborted) server.forceShutdown();
}
