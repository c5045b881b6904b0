import type { Foundation, RunningService } from '@reelgate/platform/foundation';
import { healthRoutes } from '@reelgate/platform/http/health-routes';
import type { ReadyCheck } from '@reelgate/platform/lifecycle/readiness';
import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import { callersByKey } from '@reelgate/platform/rpc/callers';
import type { IdentifyCaller } from '@reelgate/platform/rpc/callers';
import { startConnectServer } from '@reelgate/platform/rpc/connect-server';
import { startGrpcServer } from '@reelgate/platform/rpc/grpc-server';
import type { Secret } from '@reelgate/platform/secret';
import type { Ports, ProgramConfig } from './config/program-config.ts';
import { knownIdentities } from './identities.ts';

/** The program's own parts, and the internal callers of the configuration. */
export function knownCallers(config: Pick<ProgramConfig, 'internalCallers'>, signingKey: Secret): IdentifyCaller {
  return callersByKey([...knownIdentities(signingKey), ...config.internalCallers]);
}

/** Opens the gRPC port and the HTTP port of a service, if the configuration names them. */
export async function openPorts(
  lifecycle: Lifecycle,
  foundation: Foundation,
  service: RunningService,
  at: { readonly ports: Ports; readonly identify: IdentifyCaller },
): Promise<void> {
  const {
    ports: { rpc, http },
    identify,
  } = at;
  const { log, metrics } = foundation;
  const isReady = untilStopping(lifecycle, service.ready);
  if (rpc !== undefined) {
    const server = await startGrpcServer({
      listen: rpc,
      bindings: service.bindings,
      identify,
      log,
      readiness: { isReady, stopping: lifecycle.stopping },
    });
    lifecycle.add('gRPC port', () => server.stop());
  }
  if (http !== undefined) {
    const routes = [healthRoutes(isReady, metrics), ...service.routes];
    const server = await startConnectServer({ listen: http, bindings: service.bindings, identify, log, routes });
    lifecycle.add('HTTP port', () => server.stop());
  }
}

/** A stopping program accepts no new work, even if its checks still pass. */
export function untilStopping({ stopping }: Pick<Lifecycle, 'stopping'>, isReady: ReadyCheck): ReadyCheck {
  return async () => !stopping.aborted && isReady();
}
