import { gatewayConfig } from '@reelgate/gateway/config';
import { DiagnosisService } from '@reelgate/proto/diagnosis/v1/diagnosis_service';
import { systemClock } from '@reelgate/platform/clock';
import type { HostPort } from '@reelgate/platform/config/units';
import { connectHttp } from '@reelgate/platform/rpc/connect/client';
import { connectGrpc } from '@reelgate/platform/rpc/grpc/client';
import type { GrpcConnection } from '@reelgate/platform/rpc/grpc/client';
import { parseTarget, writeHostPort } from '@reelgate/platform/rpc/grpc/target';
import type { Client } from '@reelgate/platform/rpc/service';
import { CALLED_SERVICES } from '../program/config/program-config.ts';
import type { CalledService, ProgramConfig, ServiceName } from '../program/config/program-config.ts';
import { callsTls } from '../program/config/used-tls.ts';
import { callKey } from '../program/keys/identities.ts';
import { readAcceptedKeys } from '../program/keys/service-key.ts';

type DiagnosisClient = Client<typeof DiagnosisService>;

/** A service as an operator asks it about itself. */
export interface DiagnosedService {
  readonly name: ServiceName;
  /** As a person reads it. */
  readonly address: string;
  /** The hosts of that address with their ports, an empty list for a socket of this machine. */
  readonly hosts: readonly HostPort[];
  /** Calls any of its replicas. */
  readonly client: DiagnosisClient;
  /** Calls the replica at one of the addresses behind its name. */
  connectReplica(at: HostPort): DiagnosisClient;
}

export interface DiagnosedServices {
  /** Without the gateway if it has no admin port. */
  readonly services: readonly DiagnosedService[];
  close(): void;
}

/**
 * Connects to every service. The gateway answers on its admin port. `gateway` is its address if it differs from the
 * configuration.
 */
export function connectDiagnosed(config: ProgramConfig, gateway: string | undefined): DiagnosedServices {
  const [signingKey] = readAcceptedKeys(config).signatures;
  const tls = callsTls(config, systemClock.now());
  const connections: GrpcConnection[] = [];
  const connect = (name: CalledService, address: string, tlsName?: string): DiagnosisClient => {
    const settings = { ...config.grpc.calls, tlsName };
    const connection = connectGrpc(address, callKey('operator', name, signingKey), tls, settings);
    connections.push(connection);
    return connection.client(DiagnosisService);
  };
  const connectAdmin = (address: string): DiagnosisClient =>
    connectHttp(DiagnosisService, `http://${address}`, callKey('operator', 'gateway', signingKey));
  const admin = gateway ?? adminAddress(config);
  const ofGateway = (address: string): DiagnosedService => ({
    name: 'gateway',
    address,
    hosts: parseTarget(address)?.addresses ?? [],
    client: connectAdmin(address),
    connectReplica: (at) => connectAdmin(writeHostPort(at)),
  });
  const ofCalled = (name: CalledService): DiagnosedService => {
    const address = config.services[name];
    const hosts = parseTarget(address)?.addresses ?? [];
    return {
      name,
      address,
      hosts,
      client: connect(name, address),
      // A certificate is for the name, or for each address of a list.
      connectReplica: (at) => connect(name, writeHostPort(at), hosts.length === 1 ? hosts[0]?.host : undefined),
    };
  };
  return {
    services: [...(admin === undefined ? [] : [ofGateway(admin)]), ...CALLED_SERVICES.map(ofCalled)],
    close: () => {
      for (const connection of connections) connection.close();
    },
  };
}

/** A port that listens on every address is called on the loopback address. */
function adminAddress({ value }: ProgramConfig): string | undefined {
  const { admin } = gatewayConfig(value);
  if (admin === undefined) return undefined;
  const host = admin.host === '0.0.0.0' ? '127.0.0.1' : admin.host === '::' ? '::1' : admin.host;
  return writeHostPort({ host, port: admin.port });
}
