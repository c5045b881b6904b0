import { gatewayConfig } from '@reelgate/gateway/config';
import { DiagnosisService } from '@reelgate/proto/diagnosis/v1/diagnosis_service';
import { systemClock } from '@reelgate/platform/clock';
import { connectHttp } from '@reelgate/platform/rpc/connect-client';
import { connectGrpc } from '@reelgate/platform/rpc/grpc-client';
import { parseTarget } from '@reelgate/platform/rpc/grpc-target';
import type { Client } from '@reelgate/platform/rpc/service';
import { CALLED_SERVICES } from '../program/config/program-config.ts';
import type { ProgramConfig, ServiceName } from '../program/config/program-config.ts';
import { callsTls } from '../program/config/used-tls.ts';
import { callKey } from '../program/identities.ts';
import { openKeys } from '../program/open-keys.ts';

/** A service as an operator asks it about itself. */
export interface DiagnosedService {
  readonly name: ServiceName;
  /** As a person reads it. */
  readonly address: string;
  /** The hosts of that address. */
  readonly hosts: readonly string[];
  readonly client: Client<typeof DiagnosisService>;
}

export interface DiagnosedServices {
  /** Without the gateway if it has no admin port. */
  readonly services: readonly DiagnosedService[];
  close(): void;
}

/**
 * Connects to every service. The gateway answers on its admin port; `gateway` is its address, if not that of the
 * configuration.
 */
export function connectDiagnosed(config: ProgramConfig, gateway: string | undefined): DiagnosedServices {
  const [signingKey] = openKeys(config).signatures;
  const tls = callsTls(config, systemClock.now());
  const connections = CALLED_SERVICES.map((name) => ({
    name,
    address: config.services[name],
    connection: connectGrpc(config.services[name], callKey('operator', name, signingKey), tls, config.grpc.calls),
  }));
  const admin = gateway ?? adminAddress(config);
  return {
    services: [
      ...(admin === undefined
        ? []
        : [
            {
              name: 'gateway' as const,
              address: admin,
              hosts: parseTarget(admin)?.hosts ?? [],
              client: connectHttp(DiagnosisService, `http://${admin}`, callKey('operator', 'gateway', signingKey)),
            },
          ]),
      ...connections.map(({ name, address, connection }) => ({
        name,
        address,
        hosts: parseTarget(address)?.hosts ?? [],
        client: connection.client(DiagnosisService),
      })),
    ],
    close: () => {
      for (const { connection } of connections) connection.close();
    },
  };
}

/** A port that listens on every address is called on the loopback address. */
function adminAddress({ value }: ProgramConfig): string | undefined {
  const { admin } = gatewayConfig(value);
  if (admin === undefined) return undefined;
  const host = admin.host === '0.0.0.0' ? '127.0.0.1' : admin.host === '::' ? '::1' : admin.host;
  return `${host.includes(':') ? `[${host}]` : host}:${String(admin.port)}`;
}
