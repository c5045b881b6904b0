import type { Clock } from '@reelgate/platform/clock';
import { aborted } from '@reelgate/platform/lifecycle/drain';
import type { Drain } from '@reelgate/platform/lifecycle/drain';
import { openLimits } from '@reelgate/platform/limits/open-limits';
import type { RedisLink } from '@reelgate/platform/limits/redis-link';
import type { SharedLimits } from '@reelgate/platform/limits/shared-limits';
import { openLifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import type { Random } from '@reelgate/platform/ids';
import type { Foundation, RunningService } from '@reelgate/platform/foundation';
import { deriveSecret } from '@reelgate/platform/secret';
import type { Client } from '@reelgate/platform/rpc/service';
import type { BillingService } from '@reelgate/proto/billing/v1/billing_service';
import type { UsageService } from '@reelgate/proto/billing/v1/usage_service';
import type { JobService } from '@reelgate/proto/tasks/v1/job_service';
import type { WebhookService } from '@reelgate/proto/tasks/v1/webhook_service';
import { billingAuthenticate } from './clients/billing-client.ts';
import type { MediaPort } from './clients/media-port.ts';
import { callsClient } from './clients/calls-client.ts';
import type { BillingCalls } from './clients/calls-client.ts';
import { jobsClient } from './clients/jobs-client.ts';
import { signedLinks } from './clients/signed-links.ts';
import type { TasksClient } from './clients/tasks-client.ts';
import { billingUsage } from './clients/usage-client.ts';
import type { SenderClient } from './clients/webhook-sender.ts';
import { webhooksClient } from './clients/webhooks-client.ts';
import { readCatalogue } from './config.ts';
import type { GatewayConfig } from './config.ts';
import type { RateCounters } from './rate-counters/rate-counters.ts';
import { localRateCounters } from './rate-counters/local-rate-counters.ts';
import { redisRateCounters } from './rate-counters/redis-rate-counters.ts';
import { loadAssets } from './console/assets/load-assets.ts';
import { clientConsoleRoutes, openClientSessions } from './console/client/client-console.ts';
import { operatorConsole } from './console/operator/operator-console.ts';
import { dialects } from './dialects/index.ts';
import { onTaskChanged } from './events/on-task-changed.ts';
import { onTokenChanged } from './events/on-token-changed.ts';
import { admit } from './http/admission/admit.ts';
import { openBodyBudget } from './http/bodies/body-budget.ts';
import { openStreamPermits } from './http/event-stream/stream-permits.ts';
import { watchHeld } from './http/gateway-gauges.ts';
import type { GatewayParts } from './http/gateway-parts.ts';
import type { GatewayPorts } from './http/gateway-ports.ts';
import { koaApp } from './http/koa-app.ts';
import { observer } from './http/observe.ts';
import { beginRequests } from './http/request-counter.ts';
import { realtimeUpgrades } from './http/relay/realtime-upgrade.ts';
import { gatewayRoutes } from './http/routes/gateway-routes.ts';
import { openWaitPermits } from './http/routes/wait-permits.ts';
import { startJobs } from './jobs/start-jobs.ts';
import { cachedPrincipals } from './operations/principals.ts';
import { cachedTaskReader } from './operations/read-task.ts';
import { openTaskChanges } from './operations/task-changes.ts';
import { batchedCharges } from './relay/charges/batched-charges.ts';
import { openHoldForecast } from './relay/charges/hold-forecast.ts';
import { rememberedPriceKeys } from './relay/charges/price-keys.ts';
import { openRealtime } from './relay/realtime/realtime.ts';
import type { Realtime } from './relay/realtime/realtime.ts';
import { openRelay } from './relay/relay.ts';
import type { Relay } from './relay/relay.ts';
import { openRelayChannels } from './relay/channels/relay-channels.ts';
import type { RelayChannels } from './relay/channels/relay-channels.ts';
import { relayMeter } from './relay/relay-metrics.ts';
import { relayCheck } from './relay/channels/relay-checks.ts';
import { startCallWatch } from './relay/attempts/watch-calls.ts';
import { eventBodies } from './webhooks/event-body.ts';
import { startWebhooks } from './webhooks/start-webhooks.ts';

export { openGatewayPorts } from './http/gateway-ports.ts';
export type { GatewayPorts } from './http/gateway-ports.ts';
export { httpMedia } from './clients/http-media.ts';
export type { MediaPort } from './clients/media-port.ts';

/**
 * The bytes of all request bodies together; two of the largest size always fit. A body takes several times its size
 * while it is parsed and decoded.
 */
const BODIES_BYTES_LEAST = 256 * 1024 * 1024;
const BODY_WAIT_MS_MAX = 60_000;

/** The tasks service derives the same key with this purpose. */
const CALLBACK_KEY_PURPOSE = 'upstream-callbacks';

export interface GatewayClients {
  readonly tasks: TasksClient;
  readonly jobs: Client<typeof JobService>;
  readonly webhooks: Client<typeof WebhookService>;
  readonly billing: Pick<Client<typeof BillingService>, 'authenticate'>;
  readonly calls: BillingCalls;
  readonly usage: Pick<Client<typeof UsageService>, 'getUsage'>;
  readonly media: MediaPort;
  readonly sender: SenderClient;
}

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
  { public: server }: Pick<GatewayPorts, 'public'>,
): Promise<RunningGateway> {
  const { clock, newId, log, metrics, tracing, bus } = foundation;
  const lifecycle = openLifecycle(log);
  try {
    let catalogue = config.catalogue;
    const { redis, limits } = await openLimits(foundation, lifecycle, {
      service: 'gateway',
      url: config.redis,
      deadlineMs: config.redisDeadlineMs,
    });
    const counters = openRateCounters(redis, foundation, lifecycle);
    const principals = cachedPrincipals(billingAuthenticate(clients.billing), clock);
    const reader = cachedTaskReader(clients.tasks, clock);
    const changes = openTaskChanges();
    const stopping = new AbortController();
    const { relay, channels, realtime } = startRelay(config, foundation, { ...clients, limits }, lifecycle);
    foundation.checks?.add(relayCheck(channels));
    const links = signedLinks(foundation.publicUrl, foundation.signingKey);
    const parts: GatewayParts = {
      clock,
      newId,
      log,
      counters,
      reader,
      relay,
      changes,
      links,
      principals,
      jobs: jobsClient(clients.jobs),
      webhooks: webhooksClient(clients.webhooks),
      eventBody: eventBodies({ links, media: clients.media }),
      stopping: stopping.signal,
      tasks: clients.tasks,
      media: clients.media,
      usage: billingUsage(clients.usage),
      limits: config.limits,
      catalogue: () => catalogue,
      ...openBounds(config, clock),
      callbackKeys: foundation.acceptedKeys.signatures.map((key) => deriveSecret(key, CALLBACK_KEY_PURPOSE)),
    };
    watchHeld(metrics, parts);
    const taskEvents = await onTaskChanged(bus, { reader, changes, tracing });
    lifecycle.add('task events', () => taskEvents.stop());
    const tokenEvents = await onTokenChanged(bus, principals);
    lifecycle.add('token events', () => tokenEvents.stop());

    const sessions = openClientSessions(config.console, foundation);
    const admission = { principals, counters, limits: config.limits, sessions };
    const observe = observer({ clock, log, metrics });
    const assets = loadAssets();
    const pool = await startJobs(config, foundation, parts, lifecycle);
    const deliveries = await startWebhooks(config, foundation, { clients, eventBody: parts.eventBody }, lifecycle);
    const api = gatewayRoutes(dialects, parts, foundation.publicUrl);
    const pages = config.console.isForClients ? clientConsoleRoutes(sessions, { parts, assets, api }) : [];
    const routes = [...api, ...pages];
    beginRequests(metrics, routes);
    const app = koaApp({
      routes,
      admit: (exchange, entry) => admit(admission, exchange, entry),
      observe,
      clock,
      newId,
      log,
      tracing,
    });
    const callback = app.callback();
    server.serve({
      handle: (request, response) => void callback(request, response),
      upgrades: realtimeUpgrades({ realtime, admission, clock, newId, log, metrics, tracing }),
    });
    lifecycle.add('public port', () => server.stop());
    lifecycle.add('realtime sessions', () => realtime.stop());
    lifecycle.add('waiting reads', () => {
      stopping.abort();
    });
    const endWaits = async ({ closing }: Drain): Promise<void> => {
      await aborted(closing);
      stopping.abort();
      await realtime.stop();
    };
    return {
      bindings: [],
      routes: [operatorConsole(config.console, { foundation, assets, budget: parts.budget, observe })],
      ready: async () => true,
      port: server.port,
      url: urlOf(config.listen.host, server.port),
      stop: () => lifecycle.stop(),
      drain: async (drain) => {
        await Promise.all([pool.stop(drain.over), deliveries.stop(drain.over), endWaits(drain), server.drain(drain)]);
      },
      reload: async (value) => {
        catalogue = readCatalogue(value);
        channels.replace(catalogue.relay);
      },
    };
  } catch (error) {
    await lifecycle.stop();
    throw error;
  }
}

/** What is open or in memory at one time. */
function openBounds(
  { limits }: Pick<GatewayConfig, 'limits'>,
  clock: Clock,
): Pick<GatewayParts, 'budget' | 'waits' | 'eventStreams'> {
  return {
    budget: openBodyBudget({
      bytesMax: Math.max(BODIES_BYTES_LEAST, 2 * limits.bodyBytes),
      clock,
      waitMsMax: BODY_WAIT_MS_MAX,
    }),
    waits: openWaitPermits(),
    eventStreams: openStreamPermits(),
  };
}

interface RelayParts {
  readonly relay: Relay;
  readonly realtime: Realtime;
  readonly channels: RelayChannels;
}

/** The lifecycle stops the parts in reverse: the watch, the pending settlements, the connections. */
function startRelay(
  { catalogue, realtime: settings, sendBesideMaxNanos }: GatewayConfig,
  { clock, newId, log, metrics, random }: Foundation,
  { calls, limits }: Pick<GatewayClients, 'calls'> & { readonly limits: SharedLimits },
  lifecycle: Lifecycle,
): RelayParts {
  const channels = openRelayChannels(catalogue.relay, { clock, limits, chance: chanceFrom(random) });
  lifecycle.add('relay channels', () => channels.close());
  const forecast = openHoldForecast({ clock, holdMax: sendBesideMaxNanos });
  const charges = batchedCharges({ requests: callsClient(calls), forecast, clock, log });
  const priceKeys = rememberedPriceKeys();
  lifecycle.add('settlements', () => charges.stop());
  const watch = startCallWatch(clock, log);
  lifecycle.add('watch of relayed calls', () => watch.stop());
  const realtime = openRealtime({ clock, newId, log, metrics, channels, charges, priceKeys, settings });
  return {
    channels,
    realtime,
    relay: openRelay({
      channels,
      charges,
      priceKeys,
      watch,
      clock,
      newId,
      log,
      meter: relayMeter(metrics, clock, channels),
    }),
  };
}

/** A source of numbers from 0 (inclusive) to 1 (exclusive). */
function chanceFrom(random: Random): () => number {
  return () => {
    const bytes = new Uint8Array(4);
    random(bytes);
    return new DataView(bytes.buffer).getUint32(0) / 2 ** 32;
  };
}

function openRateCounters(redis: RedisLink | undefined, { clock }: Foundation, lifecycle: Lifecycle): RateCounters {
  const local = localRateCounters(clock);
  const counters = redis === undefined ? local : redisRateCounters({ redis, clock, fallback: local });
  lifecycle.add('counters', () => counters.close());
  return counters;
}

function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
}
