import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Metadata, Server, ServerCredentials } from '@grpc/grpc-js';
import type {
  ServerUnaryCall,
  ServiceDefinition,
  UntypedServiceImplementation,
  handleUnaryCall,
  sendUnaryData,
  status,
} from '@grpc/grpc-js';
import type { Log } from '../log.ts';
import { ALWAYS_READY } from '../lifecycle/readiness.ts';
import type { Readiness } from '../lifecycle/readiness.ts';
import type { HostPort } from '../config/units.ts';
import { accessCheckOf } from './access.ts';
import type { IdentifyCaller } from './callers.ts';
import { openRunningCalls } from './call-bounds.ts';
import type { CallBounds, RunningCalls } from './call-bounds.ts';
import { addReflection } from './grpc-introspection.ts';
import { statusDetailsOf } from './grpc-status.ts';
import { isFault, toConnectError } from './problems.ts';
import type { Binding } from './service.ts';
import { serveStatus } from './serving-status.ts';
import type { ServingStatus } from './serving-status.ts';

const MESSAGE_BYTES_MAX = 8 * 1024 * 1024;
const CONNECTION_AGE_MS = 10 * 60_000;
const CONNECTION_GRACE_MS = 30_000;
const STOP_GRACE_MS = 5000;

export interface GrpcServerOptions {
  readonly listen: HostPort;
  readonly bindings: readonly Binding[];
  readonly identify: IdentifyCaller;
  readonly log: Log;
  /** The readiness behind its health; absent: it serves while it listens. */
  readonly readiness?: Readiness | undefined;
}

export interface RpcServer {
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * A gRPC server with health and reflection. It closes old connections at intervals, so that callers find new replicas.
 */
export async function startGrpcServer({
  listen,
  bindings,
  identify,
  log,
  readiness = ALWAYS_READY,
}: GrpcServerOptions): Promise<RpcServer> {
  const server = new Server({
    'grpc.max_receive_message_length': MESSAGE_BYTES_MAX,
    'grpc.max_connection_age_ms': CONNECTION_AGE_MS,
    'grpc.max_connection_age_grace_ms': CONNECTION_GRACE_MS,
  });
  const calls = openRunningCalls(log);
  for (const binding of bindings)
    server.addService(definitionOf(binding), handlersOf(binding, { identify, log, calls }));
  const health = await serveStatus(
    server,
    bindings.map(({ service }) => service.typeName),
    readiness,
  );
  addReflection(server, bindings);
  const host = listen.host.includes(':') ? `[${listen.host}]` : listen.host;
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`${host}:${String(listen.port)}`, ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  }).catch((error: unknown) => {
    health.close();
    throw error;
  });
  return {
    port,
    stop: async () => {
      await stop(server, health);
      await calls.settled(STOP_GRACE_MS);
    },
  };
}

function definitionOf({ service }: Binding): ServiceDefinition {
  return Object.fromEntries(
    service.methods.map((method) => [
      method.localName,
      {
        path: `/${service.typeName}/${method.name}`,
        requestStream: false,
        responseStream: false,
        requestSerialize: (message: unknown) => Buffer.from(toBinary(method.input, message as never)),
        requestDeserialize: (bytes: Buffer) => fromBinary(method.input, bytes),
        responseSerialize: (message: unknown) => Buffer.from(toBinary(method.output, message as never)),
        responseDeserialize: (bytes: Buffer) => fromBinary(method.output, bytes),
      },
    ]),
  );
}

interface Serving {
  readonly identify: IdentifyCaller;
  readonly log: Log;
  readonly calls: RunningCalls;
}

function handlersOf({ service, methods }: Binding, { identify, log, calls }: Serving): UntypedServiceImplementation {
  return Object.fromEntries(
    service.methods.map((method) => {
      const run = methods[method.localName];
      if (run === undefined) throw new Error(`${service.typeName} has no ${method.name}`);
      const assertMayCall = accessCheckOf(method);
      const handle: handleUnaryCall<never, unknown> = (
        call: ServerUnaryCall<never, unknown>,
        done: sendUnaryData<unknown>,
      ) => {
        calls
          .run(method.name, boundsOf(call), async (signal) => {
            const caller = identify(first(call.metadata, 'authorization'));
            assertMayCall(caller, call.request);
            const answer = await run(call.request, {
              caller,
              signal,
              requestId: first(call.metadata, 'x-request-id') ?? '',
            });
            return create(method.output, answer as Record<string, unknown>);
          })
          .then(
            (message) => {
              done(null, message);
            },
            (thrown: unknown) => {
              if (isFault(thrown)) log.error({ method: method.name, err: thrown }, 'a call failed');
              done(failureOf(thrown));
            },
          );
      };
      return [method.localName, handle];
    }),
  ) as UntypedServiceImplementation;
}

function boundsOf(call: ServerUnaryCall<never, unknown>): CallBounds {
  const gone = new AbortController();
  const leave = (): void => {
    gone.abort();
  };
  if (call.cancelled) leave();
  else call.on('cancelled', leave);
  return { deadline: Number(call.getDeadline()), gone: gone.signal };
}

function failureOf(thrown: unknown): { code: status; details: string; metadata: Metadata } {
  const error = toConnectError(thrown);
  const metadata = new Metadata();
  if (error.details.length > 0) metadata.set('grpc-status-details-bin', statusDetailsOf(error));
  return { code: error.code as unknown as status, details: error.rawMessage, metadata };
}

function first(metadata: Metadata, name: string): string | undefined {
  return metadata.get(name)[0]?.toString();
}

function stop(server: Server, health: ServingStatus): Promise<void> {
  health.close();
  return new Promise((resolve) => {
    const force = setTimeout(() => {
      server.forceShutdown();
      resolve();
    }, STOP_GRACE_MS);
    server.tryShutdown(() => {
      clearTimeout(force);
      resolve();
    });
  });
}
