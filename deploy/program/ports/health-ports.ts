import type { GatewayPorts } from '@reelgate/gateway/app';
import { gatewayConfig } from '@reelgate/gateway/config';
import { hostCheck } from '@reelgate/platform/http/allowed-hosts';
import type { HostCheck } from '@reelgate/platform/http/allowed-hosts';
import { healthRoutes } from '@reelgate/platform/http/health-routes';
import { openHttpPort } from '@reelgate/platform/http/http-port';
import type { HttpPort } from '@reelgate/platform/http/http-port';
import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import { shareCheck } from '@reelgate/platform/lifecycle/readiness';
import type { ReadyCheck } from '@reelgate/platform/lifecycle/readiness';
import { CALLED_SERVICES } from '../config/program-config.ts';
import type { CalledService, ProgramConfig, ServiceName } from '../config/program-config.ts';
import type { FoundationWithoutBus } from '../open-foundation.ts';
import type { ProgramTls } from './program-tls.ts';

/** The ports that answer health while the program still starts. They are closed last. */
export interface HealthPorts {
  readonly http: Readonly<Partial<Record<CalledService, HttpPort>>>;
  readonly gateway: GatewayPorts | undefined;
  /** Creates the check that a service can work and the program is not stopping. Simultaneous calls share one check. */
  readiness(ready: ReadyCheck): ReadyCheck;
  /** Reports that a service has started with all its ports. From then on the check decides its health. */
  started(name: ServiceName, isReady: ReadyCheck): void;
}

interface OpenOptions {
  readonly config: ProgramConfig;
  readonly foundation: FoundationWithoutBus;
  readonly lifecycle: Lifecycle;
  readonly tls: ProgramTls;
}

/** Opens the HTTP ports of the named service, or of all. */
export async function openHealthPorts(
  { config, foundation, lifecycle, tls }: OpenOptions,
  service: ServiceName | undefined,
): Promise<HealthPorts> {
  const { metrics, clock } = foundation;
  const checks = new Map<ServiceName, ReadyCheck>();
  const isReady = (name: ServiceName): ReadyCheck => {
    return async () => !lifecycle.stopping.aborted && (await checks.get(name)?.()) === true;
  };
  const isAllowedHost = hostCheck(config.allowedHosts);
  const http: Partial<Record<CalledService, HttpPort>> = {};
  for (const name of CALLED_SERVICES) {
    const { http: listen } = config.ports[name];
    if (listen === undefined || (service ?? name) !== name) continue;
    const health = healthRoutes(isReady(name), metrics);
    const port = await openHttpPort({ listen, tls: tls.ports[name], health, isAllowedHost });
    lifecycle.add(`HTTP port of ${name}`, () => port.stop());
    http[name] = port;
  }
  const gateway =
    (service ?? 'gateway') === 'gateway'
      ? await gatewayPorts(config, foundation, isReady('gateway'), isAllowedHost)
      : undefined;
  lifecycle.add('admin port', () => gateway?.admin?.stop());
  lifecycle.add('public port', () => gateway?.public.stop());
  return {
    http,
    gateway,
    readiness: (ready) => {
      const check = shareCheck(ready, clock);
      return async () => !lifecycle.stopping.aborted && (await check());
    },
    started: (name, check) => void checks.set(name, check),
  };
}

/** The code of the gateway loads only where it runs. */
async function gatewayPorts(
  { value }: ProgramConfig,
  foundation: FoundationWithoutBus,
  isReady: ReadyCheck,
  isAllowedHost: HostCheck,
): Promise<GatewayPorts> {
  const { openGatewayPorts } = await import('@reelgate/gateway/app');
  return openGatewayPorts(gatewayConfig(value), foundation, isReady, isAllowedHost);
}
