import path from 'node:path';
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
import { startBilling } from '@reelgate/billing/app';
import { billingConfig } from '@reelgate/billing/config';
import { startGateway } from '@reelgate/gateway/app';
import type { GatewayClients } from '@reelgate/gateway/app';
import { gatewayConfig } from '@reelgate/gateway/config';
import { startMedia } from '@reelgate/media/app';
import { mediaConfig } from '@reelgate/media/config';
import type { RunningService } from '@reelgate/platform/foundation';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import type { Binding, Client } from '@reelgate/platform/rpc/service';
import type { DescService } from '@bufbuild/protobuf';
import { startTasks } from '@reelgate/tasks/app';
import { tasksConfig } from '@reelgate/tasks/config';
import { checkedFoundation, diagnosable, serveDiagnosis } from './diagnosis/serve-diagnosis.ts';
import { drainTimes } from './config/drain-times.ts';
import { configurationOf } from './config/shown-configuration.ts';
import type { ServiceName } from './config/program-config.ts';
import { consolesOf, greeting } from './greeting.ts';
import { identityOf } from './identities.ts';
import type { Identity } from './identities.ts';
import { inProcessMedia, inProcessMediaBytes } from './in-process-media.ts';
import { measuredService } from './measured-service.ts';
import { openPorts } from './open-ports.ts';
import type { Started, Starting } from './starting.ts';

interface Served {
  readonly bindings: readonly Binding[];
}

/** Starts all four services in this process, which call one another directly, and the sandbox if it is configured. */
export async function startAll(starting: Starting): Promise<Started> {
  const { config, lifecycle, identify, tls, ports, diagnosis } = starting;
  const { value, drains } = config;
  if (ports.gateway === undefined) throw new Error('the ports of the gateway are not open');
  const keep = <S extends RunningService>(name: ServiceName, started: S): S => {
    const service = measuredService(started, starting.foundation);
    lifecycle.add(name, () => service.stop());
    lifecycle.addDrain({
      name,
      times: drainTimes(drains[name], false),
      drain: async (drain) => service.drain?.(drain),
    });
    return service;
  };
  await startOwnSandbox({ config, lifecycle });
  const billing = keep('billing', await startBilling(billingConfig(value), checkedFoundation(starting, 'billing')));
  const media = keep(
    'media',
    await startMedia(mediaConfig(value), checkedFoundation(starting, 'media'), { identify: identify('media') }),
  );
  const tasks = keep(
    'tasks',
    await startTasks(tasksConfig(value, config.publicUrl), checkedFoundation(starting, 'tasks'), {
      billing: direct(BillingService, billing, 'tasks'),
      calls: direct(CallService, billing, 'tasks'),
      media: direct(MediaService, media, 'tasks'),
      bytes: inProcessMediaBytes(media.bytes),
      haveWorkersHere: true,
    }),
  );
  const running = [billing, media, tasks];
  for (const [name, service] of [['billing', billing] as const, ['media', media] as const, ['tasks', tasks] as const]) {
    const isReady = ports.readiness(service.ready);
    await openPorts(lifecycle, starting.foundation, diagnosable(diagnosis, name, service, isReady), {
      ports: config.ports[name],
      http: ports.http[name],
      isReady,
      identify: identify(name),
      tls: tls.ports[name],
      draining: { times: drainTimes(drains[name], false) },
    });
    ports.started(name, isReady);
  }
  const gateway = keep(
    'gateway',
    await startGateway(
      gatewayConfig(value),
      checkedFoundation(starting, 'gateway'),
      gatewayClients(starting, billing, media, tasks),
      ports.gateway,
    ),
  );
  startedGateway(starting, running, gateway);
  return {
    services: [...running, gateway],
    greeting: greeting(config.publicUrl, billing.newKeys, consolesOf(value, starting.foundation.signingKey)),
  };
}

type Media = Awaited<ReturnType<typeof startMedia>>;

function gatewayClients(starting: Starting, billing: Served, media: Media, tasks: Served): GatewayClients {
  return {
    tasks: direct(TaskService, tasks, 'gateway'),
    jobs: direct(JobService, tasks, 'gateway'),
    webhooks: direct(WebhookService, tasks, 'gateway'),
    billing: direct(BillingService, billing, 'gateway'),
    accounts: direct(AccountService, billing, 'gateway'),
    calls: direct(CallService, billing, 'gateway'),
    usage: direct(UsageService, billing, 'gateway'),
    sessions: direct(SessionService, billing, 'gateway'),
    media: inProcessMedia(media.bytes),
    sender: direct(MediaService, media, 'gateway'),
    pauses: direct(OperatorService, tasks, 'gateway'),
    operator: {
      tasks: direct(OperatorService, tasks, 'operator'),
      accounts: direct(AccountService, billing, 'operator'),
      billing: direct(BillingService, billing, 'operator'),
      usage: direct(UsageService, billing, 'operator'),
      webhooks: direct(WebhookService, tasks, 'operator'),
      configuration: configurationOf(starting),
      // they run in this process
      reach: async () => ['tasks', 'billing', 'media'].map((name) => ({ name, isReachable: true })),
    },
  };
}

function startedGateway(
  starting: Starting,
  running: readonly RunningService[],
  gateway: Pick<RunningService, 'routes'>,
): void {
  const isReady = starting.ports.readiness(async () =>
    (await Promise.all(running.map((service) => service.ready()))).every(Boolean),
  );
  starting.ports.started('gateway', isReady);
  serveDiagnosis(starting, isReady, gateway);
}

async function startOwnSandbox({ config, lifecycle }: Pick<Starting, 'config' | 'lifecycle'>): Promise<void> {
  if (config.sandbox === undefined) return;
  const { startSandbox } = await import('../local/sandbox/sandbox.ts');
  const sandbox = await startSandbox({
    listen: `${config.sandbox.host}:${config.sandbox.port}`,
    key: config.sandboxKey,
    folder: path.join(config.dataDir, 'sandbox'),
  });
  lifecycle.add('sandbox', () => sandbox.stop());
}

/** A service of this process, for the part that calls it. */
function direct<S extends DescService>(service: S, { bindings }: Served, caller: Identity): Client<S> {
  const binding = bindings.find((one) => one.service === service);
  if (binding === undefined) throw new Error(`no binding serves ${service.typeName}`);
  return directClient(service, binding, identityOf(caller));
}
