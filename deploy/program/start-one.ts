import type { SecureContextOptions } from 'node:tls';
import { BillingService } from '@reelgate/proto/billing/v1/billing_service';
import { CallService } from '@reelgate/proto/billing/v1/call_service';
import { UsageService } from '@reelgate/proto/billing/v1/usage_service';
import { MediaService } from '@reelgate/proto/media/v1/media_service';
import { JobService } from '@reelgate/proto/tasks/v1/job_service';
import { TaskService } from '@reelgate/proto/tasks/v1/task_service';
import { startBilling } from '@reelgate/billing/app';
import { billingConfig } from '@reelgate/billing/config';
import { httpMedia, startGateway } from '@reelgate/gateway/app';
import type { GatewayClients } from '@reelgate/gateway/app';
import { gatewayConfig } from '@reelgate/gateway/config';
import { startMedia } from '@reelgate/media/app';
import { mediaConfig } from '@reelgate/media/config';
import type { RunningService } from '@reelgate/platform/foundation';
import { connectGrpc } from '@reelgate/platform/rpc/grpc-client';
import type { GrpcConnection } from '@reelgate/platform/rpc/grpc-client';
import { httpMediaBytes, startTasks } from '@reelgate/tasks/app';
import { tasksConfig } from '@reelgate/tasks/config';
import { secureContextOf } from '@reelgate/platform/tls/tls-files';
import { drainTimes } from './config/drain-times.ts';
import type { ServiceName } from './config/program-config.ts';
import { greeting } from './greeting.ts';
import { keyOf } from './identities.ts';
import type { Identity } from './identities.ts';
import { linger } from './linger.ts';
import { openPorts } from './open-ports.ts';
import { connectPeers, watchPeers } from './peers.ts';
import type { Started, Starting } from './starting.ts';

/** Starts one service in this process, which calls the others over gRPC. */
export const START_ONE: Readonly<Record<ServiceName, (starting: Starting) => Promise<Started>>> = {
  billing: async (starting) => {
    const service = await startBilling(billingConfig(starting.config.value), starting.foundation);
    watchPeers(starting.foundation, {});
    await serve(starting, 'billing', service);
    return { services: [service], greeting: service.newKeys.map(({ key }) => `token: ${key.reveal()}`) };
  },
  media: async (starting) => {
    const service = await startMedia(mediaConfig(starting.config.value), starting.foundation, starting);
    watchPeers(starting.foundation, {});
    await serve(starting, 'media', service);
    return { services: [service], greeting: [] };
  },
  tasks: async (starting) => {
    const { config, foundation } = starting;
    const [billing, media] = [connect(starting, 'tasks', 'billing'), connect(starting, 'tasks', 'media')];
    const service = await startTasks(tasksConfig(config.value, config.publicUrl), foundation, {
      billing: billing.client(BillingService),
      calls: billing.client(CallService),
      media: media.client(MediaService),
      bytes: httpMediaBytes(config.services.mediaHttp, keyOf('tasks', foundation.signingKey), secureContext(starting)),
    });
    watchPeers(foundation, { billing, media });
    await connectPeers([billing, media]);
    await serve(starting, 'tasks', service);
    return { services: [service], greeting: [] };
  },
  gateway: async (starting) => {
    const { config, foundation, lifecycle, ports } = starting;
    if (ports.gateway === undefined) throw new Error('the ports of the gateway are not open');
    const [tasks, billing, media] = [
      connect(starting, 'gateway', 'tasks'),
      connect(starting, 'gateway', 'billing'),
      connect(starting, 'gateway', 'media'),
    ];
    const bytes = httpMedia({
      baseUrl: config.services.mediaHttp,
      key: keyOf('gateway', foundation.signingKey),
      clock: foundation.clock,
      secureContext: secureContext(starting),
    });
    lifecycle.add('bytes', () => bytes.close());
    const clients: GatewayClients = {
      tasks: tasks.client(TaskService),
      jobs: tasks.client(JobService),
      billing: billing.client(BillingService),
      calls: billing.client(CallService),
      usage: billing.client(UsageService),
      media: bytes,
    };
    const service = await startGateway(gatewayConfig(config.value), foundation, clients, ports.gateway);
    watchPeers(foundation, { tasks, billing, media });
    await connectPeers([tasks, billing, media]);
    ports.started('gateway', ports.readiness(service.ready));
    lifecycle.add('gateway', () => service.stop());
    lifecycle.addDrain({
      name: 'gateway',
      times: drainTimes(config.drains.gateway, true),
      drain: async (drain) => service.drain?.(drain),
    });
    return { services: [service], greeting: greeting(config.publicUrl, []) };
  },
};

async function serve(
  { config, foundation, lifecycle, identify, tls, ports }: Starting,
  name: 'tasks' | 'billing' | 'media',
  service: RunningService,
): Promise<void> {
  lifecycle.add(name, () => service.stop());
  const draining = {
    times: drainTimes(config.drains[name], true),
    released: once(() => linger(service, foundation)),
  };
  const isReady = ports.readiness(service.ready);
  await openPorts(lifecycle, foundation, service, {
    ports: config.ports[name],
    http: ports.http[name],
    isReady,
    identify,
    tls: tls.ports[name],
    draining,
  });
  ports.started(name, isReady);
  lifecycle.addDrain({ name, ...draining, drain: async (drain) => service.drain?.(drain) });
}

function connect(
  { config, foundation, lifecycle, tls }: Starting,
  caller: Identity,
  name: 'tasks' | 'billing' | 'media',
): GrpcConnection {
  const connection = connectGrpc(
    config.services[name],
    keyOf(caller, foundation.signingKey),
    tls.calls,
    config.grpc.calls,
  );
  lifecycle.add(`connection to ${name}`, () => {
    connection.close();
  });
  return connection;
}

function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () => (asked ??= ask());
}

/** The newest certificates of calls, for calls over HTTP. */
function secureContext({ tls: { calls } }: Starting): (() => SecureContextOptions) | undefined {
  return calls === undefined ? undefined : () => secureContextOf(calls.current());
}
