import { AccountService } from '@reelgate/proto/billing/v1/account_service';
import { BillingService } from '@reelgate/proto/billing/v1/billing_service';
import { CallService } from '@reelgate/proto/billing/v1/call_service';
import { SessionService } from '@reelgate/proto/billing/v1/session_service';
import { UsageService } from '@reelgate/proto/billing/v1/usage_service';
import { MediaService } from '@reelgate/proto/media/v1/media_service';
import { JobService } from '@reelgate/proto/tasks/v1/job_service';
import { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import { TaskService } from '@reelgate/proto/tasks/v1/task_service';
import { WebhookService } from '@reelgate/proto/tasks/v1/webhook_service';
import { httpMedia, startGateway } from '@reelgate/gateway/app';
import type { GatewayClients } from '@reelgate/gateway/app';
import { gatewayConfig } from '@reelgate/gateway/config';
import { withChecks, serveDiagnosis } from '../diagnosis/serve-diagnosis.ts';
import { drainTimes } from '../config/drain-times.ts';
import { readConsoles, greeting } from '../greeting.ts';
import { callKey } from '../identities.ts';
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
  const clients: GatewayClients = {
    tasks: tasks.client(TaskService),
    jobs: tasks.client(JobService),
    webhooks: tasks.client(WebhookService),
    billing: billing.client(BillingService),
    accounts: billing.client(AccountService),
    calls: billing.client(CallService),
    usage: billing.client(UsageService),
    sessions: billing.client(SessionService),
    media: bytes,
    sender: media.client(MediaService),
    pauses: tasks.client(OperatorService),
    operator: {
      ...operatorClients(starting),
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

/** Connections of their own: a connection carries the key of one identity. */
function operatorClients(starting: StartParts): Omit<GatewayClients['operator'], 'reach' | 'configuration'> {
  const [tasks, billing] = [connect(starting, 'operator', 'tasks'), connect(starting, 'operator', 'billing')];
  return {
    tasks: tasks.client(OperatorService),
    accounts: billing.client(AccountService),
    billing: billing.client(BillingService),
    usage: billing.client(UsageService),
    webhooks: tasks.client(WebhookService),
  };
}
