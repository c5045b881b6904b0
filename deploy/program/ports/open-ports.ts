import type { Foundation, RunningService } from '@reelgate/platform/foundation';
import type { HttpPort } from '@reelgate/platform/http/http-port';
import type { DrainTimes } from '@reelgate/platform/lifecycle/drain';
import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import type { ReadyCheck } from '@reelgate/platform/lifecycle/readiness';
import { identifyAmong } from '@reelgate/platform/rpc/callers';
import type { IdentifyCaller } from '@reelgate/platform/rpc/callers';
import { connectHandler } from '@reelgate/platform/rpc/connect/server';
import { startGrpcServer } from '@reelgate/platform/rpc/grpc/server';
import { measureBinding } from '@reelgate/platform/rpc/measure-binding';
import type { ServerTls } from '@reelgate/platform/tls/tls-files';
import type { Ports, ProgramConfig, ServiceName } from '../config/program-config.ts';
import { listIdentities } from '../keys/identities.ts';

/** Identifies callers for each service: the program's own parts, and the internal callers of the configuration. */
export function newCallerIdentifiers(
  config: ProgramConfig,
  { acceptedKeys }: Foundation,
): (service: ServiceName) => IdentifyCaller {
  return (service) => identifyAmong([...listIdentities(service, acceptedKeys.signatures), ...config.internalCallers]);
}

export interface PortOptions {
  readonly ports: Ports;
  /** The HTTP port, which is open already. */
  readonly http: HttpPort | undefined;
  readonly isReady: ReadyCheck;
  readonly identify: IdentifyCaller;
  readonly tls?: ServerTls | undefined;
  /** For each port: when it drains. */
  readonly draining: { readonly times: DrainTimes; readonly released?: () => Promise<void> };
}

/**
 * Serves a service on its HTTP port, and opens its gRPC port, if the configuration names them. Other processes take a
 * service that answers gRPC for ready, so its bytes over HTTP come first.
 */
export async function openPorts(
  lifecycle: Lifecycle,
  { log, metrics, tracing }: Foundation,
  { bindings, routes }: RunningService,
  { ports: { rpc, connectionAgeMs }, http, isReady, identify, tls, draining }: PortOptions,
): Promise<void> {
  if (http !== undefined) {
    http.serve(connectHandler({ bindings, identify, hasTls: tls !== undefined, log, metrics, tracing, routes }));
    lifecycle.addDrain({ name: 'HTTP port', ...draining, drain: (drain) => http.drain(drain) });
  }
  if (rpc !== undefined) {
    const server = await startGrpcServer({
      listen: rpc,
      bindings,
      identify,
      tls,
      log,
      connectionAgeMs,
      metrics,
      tracing,
      readiness: { isReady, stopping: lifecycle.stopping },
    });
    lifecycle.add('gRPC port', () => server.stop());
    lifecycle.addDrain({ name: 'gRPC port', ...draining, drain: (drain) => server.drain(drain) });
  }
}

/** Wraps the service so that its calls are measured, whether they come from this process or over the network. */
export function measureService<S extends RunningService>(service: S, foundation: Foundation): S {
  return { ...service, bindings: service.bindings.map((binding) => measureBinding(binding, foundation)) };
}
