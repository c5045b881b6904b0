import path from 'node:path';
import { BillingService } from '@reelgate/proto/billing/v1/billing_service';
import { CallService } from '@reelgate/proto/billing/v1/call_service';
import { MediaService } from '@reelgate/proto/media/v1/media_service';
import { startBilling } from '@reelgate/billing/app';
import { billingConfig } from '@reelgate/billing/config';
import { startGateway } from '@reelgate/gateway/app';
import type { GatewayClients, MediaPort } from '@reelgate/gateway/app';
import { gatewayConfig } from '@reelgate/gateway/config';
import { startMedia } from '@reelgate/media/app';
import type { MediaBytes as OwnedBytes } from '@reelgate/media/app';
import { mediaConfig } from '@reelgate/media/config';
import type { RunningService } from '@reelgate/platform/foundation';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import type { Binding } from '@reelgate/platform/rpc/service';
import { startTasks, collect } from '@reelgate/tasks/app';
import type { MediaBytes } from '@reelgate/tasks/app';
import { tasksConfig } from '@reelgate/tasks/config';
import { withChecks, withDiagnosis, serveDiagnosis } from './diagnosis/serve-diagnosis.ts';
import { drainTimes } from './config/drain-times.ts';
import { newConfigurationReader } from './config/describe-configuration.ts';
import type { ServiceName } from './config/program-config.ts';
import { connectGateway, connectOperator } from './connect-gateway.ts';
import type { Connect } from './connect-gateway.ts';
import { readConsoles, greeting } from './greeting.ts';
import { toCaller } from './keys/identities.ts';
import type { Identity } from './keys/identities.ts';
import { measureService, openPorts } from './ports/open-ports.ts';
import type { StartResult, StartParts } from './start-parts.ts';

interface BoundService {
  readonly bindings: readonly Binding[];
}

/** Starts all four services in this process, which call one another directly, and the sandbox if it is configured. */
export async function startAll(starting: StartParts): Promise<StartResult> {
  const { config, lifecycle, identify, tls, ports, diagnosis } = starting;
  const { value, drains } = config;
  if (ports.gateway === undefined) throw new Error('the ports of the gateway are not open');
  const keep = <S extends RunningService>(name: ServiceName, started: S): S => {
    const service = measureService(started, starting.foundation);
    lifecycle.add(name, () => service.stop());
    lifecycle.addDrain({
      name,
      times: drainTimes(drains[name], false),
      drain: async (drain) => service.drain?.(drain),
    });
    return service;
  };
  await startOwnSandbox(starting);
  const billing = keep('billing', await startBilling(billingConfig(value), withChecks(starting, 'billing')));
  const media = keep(
    'media',
    await startMedia(mediaConfig(value), withChecks(starting, 'media'), { identify: identify('media') }),
  );
  const tasks = keep(
    'tasks',
    await startTasks(tasksConfig(value, config.publicUrl), withChecks(starting, 'tasks'), {
      billing: connectDirect(billing, 'tasks')(BillingService),
      calls: connectDirect(billing, 'tasks')(CallService),
      media: connectDirect(media, 'tasks')(MediaService),
      bytes: inProcessMediaBytes(media.bytes),
      haveWorkersHere: true,
    }),
  );
  const running = [billing, media, tasks];
  for (const [name, service] of [['billing', billing] as const, ['media', media] as const, ['tasks', tasks] as const]) {
    const isReady = ports.readiness(service.ready);
    await openPorts(lifecycle, starting.foundation, withDiagnosis(diagnosis, name, service, isReady), {
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
      withChecks(starting, 'gateway'),
      gatewayClients(starting, billing, media, tasks),
      ports.gateway,
    ),
  );
  announceGateway(starting, running, gateway);
  return {
    services: [...running, gateway],
    greeting: greeting(config.publicUrl, billing.newKeys, readConsoles(value, starting.foundation.signingKey)),
  };
}

type Media = Awaited<ReturnType<typeof startMedia>>;

function gatewayClients(
  starting: StartParts,
  billing: BoundService,
  media: Media,
  tasks: BoundService,
): GatewayClients {
  return {
    ...connectGateway(
      connectDirect(tasks, 'gateway'),
      connectDirect(billing, 'gateway'),
      connectDirect(media, 'gateway'),
    ),
    media: inProcessMedia(media.bytes),
    operator: {
      ...connectOperator(connectDirect(tasks, 'operator'), connectDirect(billing, 'operator')),
      configuration: newConfigurationReader(starting),
      // they run in this process
      reach: async () => ['tasks', 'billing', 'media'].map((name) => ({ name, isReachable: true })),
    },
  };
}

function announceGateway(starting: StartParts, running: readonly RunningService[], gateway: RunningService): void {
  const isReady = starting.ports.readiness(async () =>
    (await Promise.all(running.map((service) => service.ready()))).every(Boolean),
  );
  starting.ports.started('gateway', isReady);
  serveDiagnosis(starting, isReady, gateway);
}

async function startOwnSandbox({ config, lifecycle }: StartParts): Promise<void> {
  if (config.sandbox === undefined) return;
  const { startSandbox } = await import('../local/sandbox/sandbox.ts');
  const sandbox = await startSandbox({
    listen: `${config.sandbox.host}:${config.sandbox.port}`,
    key: config.sandboxKey,
    folder: path.join(config.dataDir, 'sandbox'),
  });
  lifecycle.add('sandbox', () => sandbox.stop());
}

/** Connects a part of this process with the services of another part. */
function connectDirect({ bindings }: BoundService, caller: Identity): Connect {
  return (service) => {
    const binding = bindings.find((one) => one.service === service);
    if (binding === undefined) throw new Error(`no binding serves ${service.typeName}`);
    return directClient(service, binding, toCaller(caller));
  };
}

/** The media service of the same process, as the gateway calls it. */
export function inProcessMedia(bytes: OwnedBytes): MediaPort {
  return {
    put: (source, options) => bytes.put(source, options),
    putPrivate: (source, { accountId, keepMs, object }) => bytes.put(source, { accountId, privateMs: keepMs, object }),
    putFile: (source, file) => bytes.putFile(source, file),
    remove: (objects) => bytes.remove(objects),
    read: async (object) => (await bytes.read(object))?.stream,
    readThumbnail: async (object) => (await bytes.readThumbnail(object))?.stream,
    serve: (request, response, wanted) => bytes.serve(request, response, wanted),
    serveLink: async (request, response) => {
      await bytes.serveLink(request, response);
    },
  };
}

/** The media service of the same process, as the tasks service uses it. */
export function inProcessMediaBytes(bytes: OwnedBytes): MediaBytes {
  return {
    read: async (object) => {
      const found = await bytes.read(object);
      if (found === undefined) throw new Error('the staged media is missing');
      return collect(found.stream);
    },
    open: async (object, { offset, length }) => {
      // a store has no empty range, so the first byte stands in
      const range = length === 0 ? { start: 0, end: 0 } : { start: offset, end: offset + length - 1 };
      const found = await bytes.read(object, range);
      return found && { stream: found.stream, sha256: found.sha256 };
    },
    beginUpload: ({ accountId, kind, declaredType, bytes: count }) =>
      bytes.beginUpload({ accountId, family: kind, declaredType, bytes: count }),
    put: (stream, { accountId, upload }) => bytes.put(stream, { accountId, upload }),
    endUpload: (upload) => bytes.endUpload(upload),
    remove: (object) => bytes.remove([object]),
  };
}
