import { httpMedia, shareCreates, startGateway } from '@reelgate/gateway/app';
import type { GatewayClients } from '@reelgate/gateway/app';
import { gatewayConfig } from '@reelgate/gateway/config';
import type { GrpcConnection } from '@reelgate/platform/rpc/grpc/client';
import { withChecks, serveDiagnosis } from '../diagnosis/serve-diagnosis.ts';
import { drainTimes } from '../config/drain-times.ts';
import { readConsoles, greeting } from '../greeting.ts';
import { connectGateway, connectOperator } from '../connect-gateway.ts';
import type { Connect } from '../connect-gateway.ts';
import { callKey } from '../keys/identities.ts';
import { newConfigurationReader } from '../config/describe-configuration.ts';
import { connectPeers, reachPeers, watchPeers } from '../peers.ts';
import type { StartResult, StartParts } from '../start-parts.ts';
import { connect, secureContext } from './connect-service.ts';

/** The gateway in a process of its own. */
export async function startGatewayAlone(starting: StartParts): Promise<StartResult> {
  const { config, lifecycle, ports } = starting;
  const foundation = withChecks(starting, 'gateway');
  if (ports.gateway === undefined) throw new Error('the ports of the gateway are not open');
  const [tasks, billing, media] = [
    connect(starting, 'gateway', 'tasks'),
    connect(starting, 'gateway', 'billing'),
    connect(starting, 'gateway', 'media'),
  ];
  const bytes = httpMedia({
    baseUrl: config.services.mediaHttp,
    key: callKey('gateway', 'media', foundation.signingKey),
    clock: foundation.clock,
    secureContext: secureContext(starting),
  });
  lifecycle.add('bytes', () => bytes.close());
  const connected = connectGateway(toConnect(tasks), toConnect(billing), toConnect(media));
  const clients: GatewayClients = {
    ...connected,
    tasks: shareCreates(connected.tasks, foundation.clock),
    media: bytes,
    operator: {
      // Connections of their own: a connection carries the key of one identity.
      ...connectOperator(
        toConnect(connect(starting, 'operator', 'tasks')),
        toConnect(connect(starting, 'operator', 'billing')),
      ),
      reach: () => reachPeers({ tasks, billing, media }),
      configuration: newConfigurationReader(starting),
    },
  };
  const service = await startGateway(gatewayConfig(config.value), foundation, clients, ports.gateway);
  watchPeers(foundation, { tasks, billing, media });
  await connectPeers([tasks, billing, media]);
  const isReady = ports.readiness(service.ready);
  ports.started('gateway', isReady);
  serveDiagnosis(starting, isReady, service);
  lifecycle.add('gateway', () => service.stop());
  lifecycle.addDrain({
    name: 'gateway',
    times: drainTimes(config.drains.gateway, true),
    drain: async (drain) => service.drain?.(drain),
  });
  return {
    services: [service],
    greeting: greeting(config.publicUrl, [], readConsoles(config.value, foundation.signingKey)),
  };
}

function toConnect(connection: GrpcConnection): Connect {
  return (service) => connection.client(service);
}
