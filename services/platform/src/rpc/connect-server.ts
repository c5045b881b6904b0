import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { create } from '@bufbuild/protobuf';
import type { DescMethod } from '@bufbuild/protobuf';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import type { ConnectRouter, HandlerContext } from '@connectrpc/connect';
import { systemClock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { HostPort } from '../config/units.ts';
import { accessCheckOf } from './access.ts';
import type { IdentifyCaller } from './callers.ts';
import { openRunningCalls } from './call-bounds.ts';
import type { CallBounds, RunningCalls } from './call-bounds.ts';
import type { RpcServer } from './grpc-server.ts';
import { isFault, toConnectError } from './problems.ts';
import type { Binding } from './service.ts';

const MESSAGE_BYTES_MAX = 8 * 1024 * 1024;
const STOP_GRACE_MS = 5000;
const STOP_SWEEP_MS = 50;

/** Handles a request that it knows. Otherwise it gives false and does nothing. */
export type HttpRoute = (request: IncomingMessage, response: ServerResponse) => boolean;

export interface ConnectServerOptions {
  readonly listen: HostPort;
  readonly bindings: readonly Binding[];
  readonly identify: IdentifyCaller;
  readonly log: Log;
  /** Plain HTTP routes, tried in order before the RPCs. */
  readonly routes: readonly HttpRoute[];
}

/** The second port of a service: the same RPCs over Connect, gRPC-web and JSON, and its plain HTTP routes. */
export async function startConnectServer({
  listen,
  bindings,
  identify,
  log,
  routes,
}: ConnectServerOptions): Promise<RpcServer> {
  const calls = openRunningCalls(log);
  const rpc = connectNodeAdapter({
    routes: (router) => {
      mount(router, bindings, { identify, log, calls });
    },
    readMaxBytes: MESSAGE_BYTES_MAX,
  });
  const server = createServer((request, response) => {
    if (!routes.some((route) => route(request, response))) rpc(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(listen.port, listen.host, resolve);
  });
  return {
    port: (server.address() as { port: number }).port,
    stop: async () => {
      await stopHttp(server);
      await calls.settled(STOP_GRACE_MS);
    },
  };
}

interface Serving {
  readonly identify: IdentifyCaller;
  readonly log: Log;
  readonly calls: RunningCalls;
}

type Handler = (request: object, context: HandlerContext) => Promise<object>;

function mount(router: ConnectRouter, bindings: readonly Binding[], serving: Serving): void {
  for (const binding of bindings) {
    const handlers = binding.service.methods.map((method) => [method.localName, handlerOf(binding, method, serving)]);
    router.service(binding.service, Object.fromEntries(handlers) as never);
  }
}

function handlerOf({ service, methods }: Binding, method: DescMethod, { identify, log, calls }: Serving): Handler {
  const run = methods[method.localName];
  if (run === undefined) throw new Error(`${service.typeName} has no ${method.name}`);
  const assertMayCall = accessCheckOf(method);
  return async (request, context) => {
    try {
      return await calls.run(method.name, boundsOf(context), async (signal) => {
        const caller = identify(context.requestHeader.get('authorization') ?? undefined);
        assertMayCall(caller, request);
        const requestId = context.requestHeader.get('x-request-id') ?? '';
        return create(
          method.output,
          (await run(request as never, { caller, signal, requestId })) as Record<string, unknown>,
        );
      });
    } catch (thrown) {
      if (isFault(thrown)) log.error({ method: method.name, err: thrown }, 'a call failed');
      throw toConnectError(thrown);
    }
  };
}

function boundsOf({ signal, timeoutMs }: HandlerContext): CallBounds {
  const left = timeoutMs();
  return { deadline: left === undefined ? undefined : systemClock.now() + left, gone: signal };
}

/**
 * Waits for running requests for a limited time, then closes their connections. Idle connections are closed at once.
 */
export async function stopHttp(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  const sweep = setInterval(() => {
    server.closeIdleConnections();
  }, STOP_SWEEP_MS);
  const force = setTimeout(() => {
    server.closeAllConnections();
  }, STOP_GRACE_MS);
  await closed;
  clearInterval(sweep);
  clearTimeout(force);
}
