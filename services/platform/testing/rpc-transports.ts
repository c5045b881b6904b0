import type { DescService } from '@bufbuild/protobuf';
import { ConnectError, createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { Scope } from '@reelgate/proto/access/v1/access';
import { afterEach } from '@jest/globals';
import { silentLog } from '../src/log.ts';
import type { Log } from '../src/log.ts';
import { identifyAmong } from '../src/rpc/callers.ts';
import type { KnownCaller } from '../src/rpc/callers.ts';
import { startConnectServer } from '../src/rpc/connect/server.ts';
import { directClient } from '../src/rpc/direct-client.ts';
import { aCaller } from './a-caller.ts';
import { connectGrpc } from '../src/rpc/grpc/client.ts';
import { startGrpcServer } from '../src/rpc/grpc/server.ts';
import { fromConnectError } from '../src/rpc/problems.ts';
import type { Binding, CallOptions, Client } from '../src/rpc/service.ts';
import { Secret } from '../src/secret.ts';
import type { Tracing } from '../src/trace/trace.ts';

/** A caller with every right, a caller with two accounts, and a caller that only reads. */
export const CALLERS: readonly KnownCaller[] = [
  { ...aCaller(), key: new Secret('key-of-the-program') },
  { ...aCaller({ name: 'reporting', accounts: ['demo', 'lab'] }), key: new Secret('key-of-reporting') },
  { ...aCaller({ name: 'reader', scopes: new Set([Scope.TASKS_READ]) }), key: new Secret('key-of-the-reader') },
];

export interface Opened {
  readonly port: number;
  /** The messages that the server logged at level error. */
  readonly logged: readonly object[];
  /** The same at level warn. */
  readonly warned: readonly object[];
  client<S extends DescService>(service: S, key?: string): Client<S>;
  stopServer(): Promise<void>;
  /** Closes the clients too. A call after the server has stopped is harmless. */
  stop(): Promise<void>;
}

export type OpenTransport = (binding: Binding, tracing?: Tracing) => Promise<Opened>;

/** Opens servers that are closed after each test. */
export function closingTransports(): (open: OpenTransport, binding: Binding, tracing?: Tracing) => Promise<Opened> {
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });
  return async (open, binding, tracing) => {
    const opened = await open(binding, tracing);
    ends.push(() => opened.stop());
    return opened;
  };
}

const LISTEN = { host: '127.0.0.1', port: 0 };
const OWN_KEY = 'key-of-the-program';

/** Every transport by which one part calls another. */
export const TRANSPORTS: readonly (readonly [string, OpenTransport])[] = [
  ['a direct call', openDirect],
  ['gRPC', openGrpc],
  ['Connect with JSON', openConnect],
];

async function openDirect(binding: Binding): Promise<Opened> {
  const nothing = async (): Promise<void> => undefined;
  return {
    port: 0,
    logged: [],
    warned: [],
    client: (service) => directClient(service, binding, aCaller()),
    stopServer: nothing,
    stop: nothing,
  };
}

export async function openGrpc(binding: Binding, tracing?: Tracing): Promise<Opened> {
  const { log, logged, warned } = keepingLog();
  const identify = identifyAmong(CALLERS);
  const server = await startGrpcServer({ listen: LISTEN, bindings: [binding], identify, log, tracing });
  const ends: (() => void)[] = [];
  return {
    port: server.port,
    logged,
    warned,
    client: (service, key = OWN_KEY) => {
      const connection = connectGrpc(`127.0.0.1:${server.port}`, new Secret(key));
      ends.push(() => {
        connection.close();
      });
      return connection.client(service);
    },
    stopServer: () => server.stop(),
    stop: async () => {
      for (const end of ends) end();
      await server.stop();
    },
  };
}

export async function openConnect(binding: Binding, tracing?: Tracing): Promise<Opened> {
  const { log, logged, warned } = keepingLog();
  const server = await startConnectServer({
    listen: LISTEN,
    bindings: [binding],
    identify: identifyAmong(CALLERS),
    log,
    tracing,
    routes: [],
  });
  const baseUrl = `http://127.0.0.1:${server.port}`;
  return {
    port: server.port,
    logged,
    warned,
    client: (service, key = OWN_KEY) => jsonClient(service, baseUrl, key),
    stopServer: () => server.stop(),
    stop: () => server.stop(),
  };
}

/** Calls as a third-party program would, with the same errors as our client. */
function jsonClient<S extends DescService>(service: S, baseUrl: string, key: string): Client<S> {
  const client = createClient(
    service,
    createConnectTransport({ baseUrl, httpVersion: '1.1', useBinaryFormat: false }),
  ) as Readonly<Record<string, (...call: unknown[]) => Promise<unknown> | AsyncIterable<unknown>>>;
  const headersOf = ({ requestId, span }: CallOptions): Record<string, string> => ({
    authorization: `Bearer ${key}`,
    ...(requestId === undefined ? {} : { 'x-request-id': requestId }),
    ...(span?.carrier === undefined ? {} : { traceparent: span.carrier }),
  });
  const methods = service.methods.map(({ localName, methodKind }) => [
    localName,
    methodKind === 'server_streaming'
      ? async function* (request: object, { signal, timeoutMs, ...told }: CallOptions = {}) {
          const headers = headersOf(told);
          // This client does not cancel a call when its reader stops, so that is done here.
          const leaving = new AbortController();
          const either = signal === undefined ? leaving.signal : AbortSignal.any([signal, leaving.signal]);
          try {
            yield* client[localName]!(request, { signal: either, timeoutMs, headers }) as AsyncIterable<unknown>;
          } catch (error) {
            throw fromConnectError(ConnectError.from(error));
          } finally {
            leaving.abort();
          }
        }
      : async (request: object, { signal, timeoutMs, ...told }: CallOptions = {}) => {
          try {
            return await client[localName]!(request, { signal, timeoutMs, headers: headersOf(told) });
          } catch (error) {
            throw fromConnectError(ConnectError.from(error));
          }
        },
  ]);
  return Object.fromEntries(methods) as Client<S>;
}

function keepingLog(): { readonly log: Log; readonly logged: object[]; readonly warned: object[] } {
  const [logged, warned]: [object[], object[]] = [[], []];
  const log: Log = {
    ...silentLog,
    error: (fields) => void logged.push(fields),
    warn: (fields) => void warned.push(fields),
  };
  return { logged, warned, log };
}
