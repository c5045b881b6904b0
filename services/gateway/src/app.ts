import { publishConfigurationApplied } from '@reelgate/platform/bus/publish-service-events';
import type { Clock } from '@reelgate/platform/clock';
import type { Foundation, RunningService } from '@reelgate/platform/foundation';
import type { HostCheck } from '@reelgate/platform/http/allowed-hosts';
import { waitForAbort } from '@reelgate/platform/lifecycle/drain';
import type { Drain } from '@reelgate/platform/lifecycle/drain';
import { newLifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import { openLimits } from '@reelgate/platform/limits/shared-limits';
import type { RedisLink } from '@reelgate/platform/limits/redis-link';
import { linkKey } from '@reelgate/platform/signatures';
import type { Metrics } from '@reelgate/platform/metrics/metrics';
import { deriveSecret } from '@reelgate/platform/secret';
import { sourceReader } from '@reelgate/platform/source-address';
import type { ReadSource } from '@reelgate/platform/source-address';
import { startBatches } from './batches/start-batches.ts';
import { billingAuthenticate } from './clients/billing-client.ts';
import type { GatewayClients } from './clients/gateway-clients.ts';
import { clientFiles } from './clients/client-files.ts';
import { modelReaders } from './clients/models-client.ts';
import { accountBooks, readTaskCharges } from './clients/money-client.ts';
import type { AccountBooks } from './clients/money-client.ts';
import { newLinkSigner } from './http/signed-links.ts';
import { billingChargedItems, billingUsage } from './clients/usage-client.ts';
import type { ReadChargedItems, ReadUsage } from './clients/usage-client.ts';
import { webhooksClient } from './clients/webhooks-client.ts';
import { gatewayConfig, readCatalogue } from './config.ts';
import type { GatewayConfig } from './config.ts';
import type { Catalogue } from './domain/model-defaults.ts';
import { openConsoles } from './console-server/open-consoles.ts';
import { dialects } from './dialects/index.ts';
import { onTaskChanged, onTokenChanged } from './events/subscriptions.ts';
import { admit } from './http/admission/admit.ts';
import { openBodyBudget } from './http/bodies/body-budget.ts';
import type { BodyBudget } from './http/bodies/body-budget.ts';
import type { GatewayPorts } from './http/gateway-ports.ts';
import { crossOrigin } from './http/cross-origin.ts';
import { koaApp } from './http/koa-app.ts';
import { observer } from './http/observe.ts';
import { realtimeUpgrades } from './relay/routes/realtime-upgrade.ts';
import { initRequestCounts } from './http/request-counter.ts';
import { gatewayRoutes } from './gateway-routes.ts';
import { mcpRoute } from './mcp/mcp-route.ts';
import type { McpRouteParts } from './mcp/mcp-route.ts';
import type { RouteEntry } from './http/routes/route.ts';
import { openWaitPermits } from './operations/await-change.ts';
import type { WaitPermits } from './operations/await-change.ts';
import { startJobs } from './jobs/start-jobs.ts';
import { openVideoModels } from './models/list-models.ts';
import type { VideoModels } from './models/list-models.ts';
import { cachePrincipals } from './operations/principals.ts';
import type { Principals } from './operations/principals.ts';
import { openEventStreamPermits } from './operations/stream-permits.ts';
import type { StreamPermits } from './operations/stream-permits.ts';
import { cacheCharges } from './operations/read-charge.ts';
import type { ChargeReader } from './operations/read-charge.ts';
import { cacheTaskReads } from './operations/read-task.ts';
import type { TaskReader } from './operations/read-task.ts';
import { openTaskChanges } from './operations/task-changes.ts';
import type { TaskChanges } from './operations/task-changes.ts';
import { localRateCounters } from './rate-counters/local-rate-counters.ts';
import type { RateCounters } from './rate-counters/rate-counters.ts';
import { redisRateCounters } from './rate-counters/redis-rate-counters.ts';
import { relayCheck } from './relay/channels/relay-checks.ts';
import { startRelay } from './relay/start-relay.ts';
import { eventBodies } from './webhooks/event-body.ts';
import { startWebhooks } from './webhooks/start-webhooks.ts';

export { openGatewayPorts } from './http/gateway-ports.ts';
export type { GatewayPorts } from './http/gateway-ports.ts';
export type { GatewayClients } from './clients/gateway-clients.ts';
export { shareCreates } from './clients/create-lists.ts';
export { httpMedia } from './clients/http-media.ts';
export type { MediaPort } from './clients/media-port.ts';

/** The longest wait of a body behind other long ones of its account. */
const BODY_WAIT_MS_MAX = 60_000;

/** The tasks service derives the same key with this purpose. */
const CALLBACK_KEY_PURPOSE = 'upstream-callbacks';
const CONFIRMATION_PURPOSE = 'confirmations';

export type RunningGateway = RunningService & {
  /** The address that it listens on, which can differ from its public URL. */
  readonly url: string;
  readonly port: number;
};

/** Builds every part, and serves the application on the public port. The stop closes that port. */
export async function startGateway(
  config: GatewayConfig,
  foundation: Foundation,
  clients: GatewayClients,
  { public: server, isAllowedHost }: GatewayPorts,
): Promise<RunningGateway> {
  const { clock, newId, log, metrics, tracing } = foundation;
  const lifecycle = newLifecycle(log, clock);
  try {
    let catalogue = config.catalogue;
    const { redis, limits } = await openRedis(config, foundation, lifecycle);
    const counters = openRateCounters(redis, foundation, lifecycle);
    const principals = cachePrincipals(billingAuthenticate(clients.billing), clock);
    const reader = cacheTaskReads(clients.tasks, clock, foundation.bus);
    const changes = openTaskChanges();
    const stopping = new AbortController();
    const { relay, channels, realtime, pauses } = await startRelay(config, foundation, clients, { limits, lifecycle });
    foundation.checks?.add(relayCheck(channels));
    const links = newLinkSigner(foundation.publicUrl, linkKey(foundation.signingKey));
    const parts = {
      clock,
      newId,
      log,
      counters,
      reader,
      ...openMoneyReads(clients, foundation, () => catalogue),
      relay,
      changes,
      links,
      principals,
      jobs: clients.jobs,
      batches: clients.batches,
      webhooks: webhooksClient(clients.webhooks),
      eventBody: eventBodies({ links, media: clients.media }),
      stopping: stopping.signal,
      tasks: clients.tasks,
      media: clients.media,
      files: clientFiles(clients.files, clients.media),
      limits: config.limits,
      catalogue: () => catalogue,
      ...openBounds(config, clock),
      callbackKeys: foundation.acceptedKeys.signatures.map((key) => deriveSecret(key, CALLBACK_KEY_PURPOSE)),
      confirmationKeys: foundation.acceptedKeys.signatures.map((key) => deriveSecret(key, CONFIRMATION_PURPOSE)),
    };
    registerGauges(metrics, parts);
    await subscribeToEvents(foundation, parts, lifecycle);

    const observe = observer({ clock, log, metrics });
    const agentTools = config.isForAgents ? [agentRoute(config, foundation, parts, isAllowedHost)] : [];
    const api = gatewayRoutes(dialects, parts, foundation.publicUrl, { hasBatches: config.hasBatches, agentTools });
    const deps = { foundation, clients, parts, api, observe, channels, pauses };
    const consoles = await openConsoles(config, deps, lifecycle);
    const admission = { principals, counters, limits: config.limits, sessions: consoles.sessions };
    const pool = await startJobs(config, foundation, parts, lifecycle);
    if (config.hasBatches) startBatches(foundation, parts, dialects, lifecycle);
    const deliveries = await startWebhooks(config, foundation, { clients, eventBody: parts.eventBody }, lifecycle);
    const routes = [...api, ...consoles.clientRoutes];
    initRequestCounts(metrics, routes);
    const serving = { clock, newId, log, tracing, readSource: parts.readSource };
    const handle = koaApp({
      routes,
      admit: (exchange, entry) => admit(admission, exchange, entry),
      observe,
      ...serving,
    });
    server.serve({
      handle,
      upgrades: realtimeUpgrades({ realtime, admission, metrics, ...serving }),
    });
    lifecycle.add('public port', () => server.stop());
    lifecycle.add('realtime sessions', () => realtime.stop());
    lifecycle.add('waiting reads', () => stopping.abort());
    const endWaits = async ({ closing }: Drain): Promise<void> => {
      await waitForAbort(closing);
      stopping.abort();
      await realtime.stop();
    };
    return {
      bindings: [],
      routes: [consoles.operator.route],
      ready: async () => true,
      port: server.port,
      url: formatUrl(config.listen.host, server.port),
      stop: () => lifecycle.stop(),
      drain: async (drain) => {
        await Promise.all([pool.stop(drain.over), deliveries.stop(drain.over), endWaits(drain), server.drain(drain)]);
      },
      reload: async (value) => {
        consoles.operator.takeUp(gatewayConfig(value));
        catalogue = readCatalogue(value);
        channels.replace(catalogue.relay);
        publishConfigurationApplied(foundation, 'gateway');
      },
    };
  } catch (error) {
    await lifecycle.stop();
    throw error;
  }
}

function openRedis(
  { redis: url, redisDeadlineMs: deadlineMs }: GatewayConfig,
  foundation: Foundation,
  lifecycle: Lifecycle,
): ReturnType<typeof openLimits> {
  return openLimits(foundation, lifecycle, { service: 'gateway', url, deadlineMs });
}

function agentRoute(
  { cors }: GatewayConfig,
  { publicUrl, metrics }: Foundation,
  parts: McpRouteParts,
  isAllowedHost: HostCheck,
): RouteEntry {
  const { allows } = crossOrigin(cors);
  const addresses = { publicOrigin: new URL(publicUrl).origin, isAllowedHost, allowsOrigin: allows };
  return mcpRoute({ parts, addresses, metrics });
}

async function subscribeToEvents(
  { bus, tracing }: Foundation,
  {
    reader,
    changes,
    principals,
  }: { readonly reader: TaskReader; readonly changes: TaskChanges; readonly principals: Principals },
  lifecycle: Lifecycle,
): Promise<void> {
  const taskEvents = await onTaskChanged(bus, { reader, changes, tracing });
  lifecycle.add('task events', () => taskEvents.stop());
  const tokenEvents = await onTokenChanged(bus, principals);
  lifecycle.add('token events', () => tokenEvents.stop());
}

/** The bounds on what is open or in memory at once, and the address that a request comes from. */
interface RequestBounds {
  readonly eventStreams: StreamPermits;
  readonly readSource: ReadSource;
  readonly budget: BodyBudget;
  /** Reads of tasks and of asynchronous calls that wait for a change. */
  readonly waits: WaitPermits;
}

/** Opens the bounds on what is open or in memory at once, and the reader of the address that a request comes from. */
function openBounds({ limits, bodies, trustedProxies }: GatewayConfig, clock: Clock): RequestBounds {
  return {
    readSource: sourceReader(trustedProxies),
    budget: openBodyBudget({
      bytesMax: bodies.bytesMax,
      bodyBytesMax: limits.bodyBytes,
      clock,
      pace: bodies,
      waitMsMax: BODY_WAIT_MS_MAX,
    }),
    waits: openWaitPermits(),
    eventStreams: openEventStreamPermits(),
  };
}

function openRateCounters(redis: RedisLink | undefined, { clock }: Foundation, lifecycle: Lifecycle): RateCounters {
  const local = localRateCounters(clock);
  const counters = redis === undefined ? local : redisRateCounters({ redis, clock, fallback: local });
  lifecycle.add('counters', () => counters.close());
  return counters;
}

interface MoneyReads {
  readonly usage: ReadUsage;
  readonly books: AccountBooks;
  readonly chargedItems: ReadChargedItems;
  readonly charges: ChargeReader;
  readonly videoModels: VideoModels;
}

/** Opens the reads of charges and of the catalogue, which need billing. */
function openMoneyReads(
  { accounts, billing, tasks, usage }: GatewayClients,
  { clock, log }: Foundation,
  catalogue: () => Catalogue,
): MoneyReads {
  return {
    usage: billingUsage(usage),
    books: accountBooks({ billing, accounts }),
    chargedItems: billingChargedItems(usage),
    charges: cacheCharges((caller, ids, timeoutMs) => readTaskCharges(billing, caller, ids, timeoutMs), { clock, log }),
    videoModels: openVideoModels({
      ...modelReaders(tasks, billing),
      catalogue,
    }),
  };
}

function formatUrl(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Registers gauges of what the requests in this process hold. They are set when the metrics are read. */
function registerGauges(metrics: Metrics, { budget, waits }: RequestBounds): void {
  metrics.gauge(
    'reelgate_gateway_body_bytes',
    'Bytes of bodies in memory, and the most of them',
    ['state'],
    (gauge) => {
      const { used, limit } = budget.state();
      gauge.labels('used').set(used);
      gauge.labels('limit').set(limit);
    },
  );
  metrics.gauge('reelgate_gateway_waiting_reads', 'Reads that wait for a change', [], (gauge) =>
    gauge.labels().set(waits.inUse()),
  );
}
