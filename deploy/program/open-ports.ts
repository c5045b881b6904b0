import type { Foundation, RunningService } from '@reelgate/platform/foundation';
import { healthRoutes } from '@reelgate/platform/http/health-routes';
import type { ReadyCheck } from '@reelgate/platform/lifecycle/readiness';
import type { Draining, Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import { identifyAmong } from '@reelgate/platform/rpc/callers';
import type { IdentifyCaller } from '@reelgate/platform/rpc/callers';
import { startConnectServer } from '@reelgate/platform/rpc/connect-server';
import { startGrpcServer } from '@reelgate/platform/rpc/grpc-server';
import type { ServerTls } from '@reelgate/platform/tls/server-tls';
import type { Ports, ProgramConfig } from './config/program-config.ts';
import { knownIdentities } from './identities.ts';

/** The program's own parts, and the internal callers of the configuration. */
export function knownCallers(
  config: Pick<ProgramConfig, 'internalCallers'>,
  { acceptedKeys }: Pick<Foundation, 'acceptedKeys'>,
): IdentifyCaller {
  return identifyAmong([...knownIdentities(acceptedKeys.signatures), ...config.internalCallers]);
}

export interface PortOptions {
  readonly ports: Ports;
  readonly identify: IdentifyCaller;
  readonly tls?: ServerTls | undefined;
  readonly draining: Pick<Draining, 'times' | 'released'>;
}

/**
 * Opens the HTTP port and the gRPC port of a service, if the configuration names them. Other processes take a service
 * that answers gRPC for ready, so its bytes over HTTP come first.
 */
export async function openPorts(
  lifecycle: Lifecycle,
  foundation: Foundation,
  service: RunningService,
  at: PortOptions,
): Promise<void> {
  const {
    ports: { rpc, http, connectionAgeMs },
    identify,
    tls,
    draining,
  } = at;
  const { log, metrics } = foundation;
  const { bindings } = service;
  const isReady = untilStopping(lifecycle, service.ready);
  if (http !== undefined) {
    const server = await startConnectServer({
      listen: http,
      bindings,
      identify,
      tls,
      log,
      metrics,
      health: healthRoutes(isReady, metrics),
      routes: service.routes,
    });
    lifecycle.add('HTTP port', () => server.stop());
    lifecycle.addDrain({ name: 'HTTP port', ...draining, drain: (drain) => server.drain(drain) });
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
      readiness: { isReady, stopping: lifecycle.stopping },
    });
    lifecycle.add('gRPC port', () => server.stop());
    lifecycle.addDrain({ name: 'gRPC port', ...draining, drain: (drain) => server.drain(drain) });
  }
}

/** A stopping program accepts no new work, even if its checks still pass. */
export function untilStopping({ stopping }: Pick<Lifecycle, 'stopping'>, isReady: ReadyCheck): ReadyCheck {
  return async () => !stopping.aborted && isReady();
}
