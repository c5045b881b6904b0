import { watchOutbox } from '@reelgate/platform/bus/outbox';
import type { Bus } from '@reelgate/platform/bus/bus';
import type { Foundation, RunningService } from '@reelgate/platform/foundation';
import type { Random } from '@reelgate/platform/ids';
import { newLifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import { openLimits } from '@reelgate/platform/limits/shared-limits';
import { linkKey } from '@reelgate/platform/signatures';
import type { Metrics } from '@reelgate/platform/metrics/metrics';
import { gaugeSampler } from '@reelgate/platform/metrics/sampled-gauges';
import { bind, bindWithLists } from '@reelgate/platform/rpc/service';
import type { Client } from '@reelgate/platform/rpc/service';
import { awaitSql } from '@reelgate/platform/sql/await-sql';
import type { Sql } from '@reelgate/platform/sql/sql';
import { TokenChangedSchema } from '@reelgate/proto/billing/v1/billing_events';
import type { BillingService } from '@reelgate/proto/billing/v1/billing_service';
import type { CallService } from '@reelgate/proto/billing/v1/call_service';
import type { MediaService } from '@reelgate/proto/media/v1/media_service';
import { BatchService } from '@reelgate/proto/tasks/v1/batch_service';
import { JobService } from '@reelgate/proto/tasks/v1/job_service';
import { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import { QueueService } from '@reelgate/proto/tasks/v1/queue_service';
import { TaskService } from '@reelgate/proto/tasks/v1/task_service';
import { WebhookService } from '@reelgate/proto/tasks/v1/webhook_service';
import { channelFactories, channelFactory } from './channels/adapter-channel.ts';
import { ADAPTERS } from './channels/adapters/index.ts';
import { newChannelRegistry } from './channels/channel-registry.ts';
import type { ChannelRegistry, ChannelRegistryOptions } from './channels/channel-registry.ts';
import type { OpenPool } from './channels/upstream-http.ts';
import { billingClient, callsClient, chargesClient } from './clients/billing.ts';
import type { MediaBytes } from './clients/media-bytes.ts';
import { mediaClient, webhookSender } from './clients/media.ts';
import { billingTokens } from './clients/tokens.ts';
import type { FindToken } from './clients/tokens.ts';
import { tasksConfig } from './config.ts';
import type { TasksConfig } from './config.ts';
import { announceAttention, announceLane, announceWait, onLaneWaits } from './events/announcements.ts';
import { announceChanged, toFinishedEvent } from './events/task-events.ts';
import { jobDeps } from './job-deps.ts';
import type { RunBatchDeps } from './operations/batches/run-batches.ts';
import { newTokenCache } from './operations/cached-tokens.ts';
import type { Tokens } from './operations/cached-tokens.ts';
import { newContentDeps } from './operations/content/read-content.ts';
import type { Deps } from './operations/deps.ts';
import type { JobCounts } from './operations/jobs/job-deps.ts';
import { newSharedWaits } from './operations/operators/shared-waits.ts';
import type { SharedWaits } from './operations/operators/shared-waits.ts';
import { newPausedChannels } from './operations/operators/pause-channel.ts';
import type { OperatorDeps } from './operations/operators/pause-channel.ts';
import { newFaultCounter } from './operations/activity/fault-counter.ts';
import type { FaultCounter } from './operations/activity/fault-counter.ts';
import { newMinuteCounter, withMinutes } from './operations/activity/minute-counter.ts';
import type { MinuteCounter } from './operations/activity/minute-counter.ts';
import { newKnownLanes } from './operations/lanes/known-lanes.ts';
import { newLaneRates } from './operations/lanes/lane-rates.ts';
import { endLeases } from './operations/recovery/end-leases.ts';
import { contentMethods } from './rpc/content-methods.ts';
import { batchService } from './rpc/batch-service.ts';
import { jobService } from './rpc/job-service.ts';
import { operatorService } from './rpc/operator-service.ts';
import { queueService } from './rpc/queue-service.ts';
import { LISTS, taskService } from './rpc/task-service.ts';
import { watchService } from './rpc/watch-service.ts';
import { webhookService } from './rpc/webhook-service.ts';
import { tasksSelfChecks } from './monitoring/tasks-self-checks.ts';
import { sqlBatches } from './store/batches/sql-batches.ts';
import { sqlJobs } from './store/jobs/sql-jobs.ts';
import type { OperatorStore } from './store/operator-store.ts';
import { sqlOperators } from './store/operators/sql-operators.ts';
import { sqlBacklog, sqlSelfChecks } from './store/tasks/sql-backlog.ts';
import { sqlTaskStore } from './store/tasks/sql-task-store.ts';
import { notifyAttention } from './store/notify-attention.ts';
import { sqlWebhooks } from './store/webhooks/sql-webhooks.ts';
import { watchBacklogs } from './monitoring/tasks-gauges.ts';
import { tasksMetrics, watchCircuits, watchQueue, watchReplicas } from './monitoring/tasks-metrics.ts';
import { callbackUrls, mediaUrls } from './operations/attempts/upstream-urls.ts';
import { drainWork, handOver, startPollers } from './workers/pollers.ts';
import type { Pollers } from './workers/pollers.ts';
import { startOperators } from './workers/operators.ts';
import { listPasses, startWorkers } from './workers/passes.ts';
import { newProcessLiveness } from './workers/process-liveness.ts';
import type { ProcessLiveness } from './workers/process-liveness.ts';
import type { SlowSettlements } from './workers/settle-finished.ts';
import { startQueue } from './workers/take-turns.ts';
import type { QueueWorker } from './workers/take-turns.ts';
import { startWatches } from './workers/watches.ts';
import { startWebhooks } from './workers/deliver-webhooks.ts';
import { prepareOwnAdapters } from './channels/own-adapters/load-own-adapter.ts';

export { testOwnAdapter } from './channels/own-adapters/test-own-adapter.ts';
export { writeOwnAdapter } from './channels/own-adapters/write-own-adapter.ts';
export { collect, httpMediaBytes } from './clients/media-bytes.ts';
export type { OpenPool } from './channels/upstream-http.ts';
export type { MediaBytes } from './clients/media-bytes.ts';

/**
 * A replica that starts leaves the channels alone for this long: a process before it may just have polled them, and the
 * others learn within a second that each has a smaller part.
 */
const POLLS_AFTER_MS = 2000;
/** While calls wait for a connection this long, new creates are refused, so that those that have begun go on. */
const WAIT_MS_MAX = 2000;

export interface TasksPeers {
  readonly billing: Client<typeof BillingService>;
  readonly calls: Client<typeof CallService>;
  readonly media: Client<typeof MediaService>;
  readonly bytes: MediaBytes;
  /** Opens the connections to an upstream. Default: over the network. */
  readonly openPool?: OpenPool | undefined;
  /** True if every worker that leases jobs and webhooks runs in this process. */
  readonly haveWorkersHere?: boolean;
}

/** Starts the tasks service. What a crash interrupted is settled before this resolves. */
export async function startTasks(
  config: TasksConfig,
  foundation: Foundation,
  peers: TasksPeers,
): Promise<RunningService> {
  const { clock, log, bus, newId, metrics } = foundation;
  const lifecycle = newLifecycle(log, clock);
  const sql = await awaitSql({ ...config.store, dataDir: foundation.dataDir }, foundation);
  lifecycle.add('database', () => sql.close());

  let current = config;
  const chance = chanceFrom(foundation.random);
  let live = STARTING;
  const operators = sqlOperators(sql, newId);
  const [wake, processId] = [newWake(), newId('proc')];
  const paused = newPausedChannels(operators, clock, wakeQueue(wake));
  const { channels, waits } = await openChannels(config, foundation, lifecycle, {
    ...{ chance, operators },
    replicas: () => live.count(),
    isPaused: (channelId) => paused.has(channelId),
    openPool: peers.openPool,
  });
  const counters = openCounters(foundation, operators, processId, (model) => current.models.has(model));
  const deps = taskDeps(foundation, peers, {
    ...{ sql, config, channels, chance, wake, processId, counters },
    current: () => current,
    areClocksTrusted: () => live.areClocksTrusted(),
    isKnownAlive: () => live.isKnownAlive(),
    replicas: () => live.count(),
  });

  const backlog = sqlBacklog(sql);
  const tokens = await openTokens(foundation, billingTokens(peers.billing), lifecycle);
  const jobs = jobDeps(deps, { jobs: sqlJobs(sql, newId), bus, config, calls: callsClient(peers.calls) });
  const batches = batchDeps(deps, { sql, config, tokens, jobs, charges: chargesClient(peers.billing) });
  const checked = { backlog, checks: sqlSelfChecks(sql), jobs: jobs.jobs, softDeadlineMs: config.softDeadlineMs };
  foundation.checks?.add(...tasksSelfChecks(deps, checked));
  // one process alone can have an embedded database
  const isAlone = sql.engine === 'sqlite';
  const liveness = newProcessLiveness(deps, isAlone);
  live = liveness;
  watchReplicas(metrics, () => live.count());
  const sampler = gaugeSampler(metrics, { service: 'tasks', clock, log });
  const stores = { tasks: backlog, jobs: jobs.jobs, batches: batches.batches };
  watchBacklogs(sampler, { ...stores, models: deps.models, channels, clock });
  watchOutbox(sampler, { sql, service: 'tasks', clock });
  const operatorDeps = await startOperators(
    foundation,
    { operators, backlog, channels, paused, waits, channelIds: () => current.channelIds },
    counters,
    lifecycle,
  );
  const webhookStore = sqlWebhooks(sql, newId);
  await liveness.recoverAtStart();
  // No worker has survived the process that had the database and all workers before.
  const hasAllWorkers = isAlone && peers.haveWorkersHere === true;
  if (hasAllWorkers) await endLeases({ ...stores, webhooks: webhookStore, clock, log });
  lifecycle.add('process', () => handOver(deps));
  const settlements: SlowSettlements = new Map();
  lifecycle.add('settlements', () => Promise.all(settlements.values()).then(() => undefined));
  const parts = { liveness, settlements, isAlone, hasAllWorkers };
  const passes = listPasses({ tasks: deps, jobs, batches }, { sql, bus, config }, parts);
  const work = { passes, wake, bus, metrics, replicas: () => live.count() };
  const { pollers, queue } = await startWork(deps, work, lifecycle);
  const watches = await startWatches({ ...deps, bus, metrics }, lifecycle);
  const webhooks = await startWebhooks(
    foundation,
    {
      deps,
      jobs: jobs.jobs,
      webhooks: webhookStore,
      sender: webhookSender(peers.media),
      limits: config.webhooks,
      watches: watches.watches,
      sampler,
    },
    lifecycle,
  );
  wake.events = webhooks.wake;
  const content = contentMethods(newContentDeps(foundation, deps, peers.bytes));

  return {
    bindings: [
      bindWithLists(TaskService, { ...taskService(deps, tokens), ...watchService(watches, clock), ...content }, LISTS),
      bind(OperatorService, operatorService(deps, jobs, operatorDeps)),
      bind(JobService, jobService(jobs, tokens)),
      bind(WebhookService, webhookService(webhooks.deps)),
      bind(QueueService, queueService(deps, operatorDeps)),
      bind(BatchService, batchService(batches, tokens)),
    ],
    routes: [],
    ready: async () => (await sql.reserved.read('SELECT 1 AS one')).length === 1,
    reload: async (value) => {
      current = await prepareOwnAdapters(tasksConfig(value, foundation.publicUrl));
      channels.replace(current.channels);
      pollers.renew();
      wake.queue();
      await noteConfiguration(operatorDeps);
    },
    // Other services can record the end of a call only here.
    isNeeded: async () => (await jobs.jobs.pendingJobs()).some(({ state }) => state === 'in_progress'),
    drain: (drain) => drainWork(deps, { pollers, queue }, drain),
    stop: () => lifecycle.stop(),
  };
}

type Live = Pick<ProcessLiveness, 'count' | 'areClocksTrusted' | 'isKnownAlive'>;

/** The state before the first heartbeat. */
const STARTING: Live = {
  count: () => 1,
  areClocksTrusted: () => true,
  isKnownAlive: () => false,
};

/** The counters of this process that operators watch. */
interface WorkCounters {
  readonly minutes: MinuteCounter;
  readonly faults: FaultCounter;
}

function openCounters(
  { clock, newId }: Foundation,
  store: OperatorStore,
  processId: string,
  isModel: (model: string) => boolean,
): WorkCounters {
  return {
    minutes: newMinuteCounter(clock, store, processId),
    faults: newFaultCounter({ clock, newId, store, processId, isModel }),
  };
}

/** The configuration is in use, whether its time can be written or not. */
async function noteConfiguration({ operators, clock, log }: OperatorDeps): Promise<void> {
  try {
    await operators.addServiceEvents([{ at: clock.now(), type: 'configuration_applied', subject: '' }]);
  } catch (error) {
    log.warn({ err: error }, 'the time of a configuration could not be written');
  }
}

interface WorkOptions {
  readonly passes: Parameters<typeof startWorkers>[1];
  readonly wake: Wake;
  readonly bus: Bus;
  readonly metrics: Metrics;
  /** The number of live processes. */
  readonly replicas: () => number;
}

interface StartedWork {
  readonly pollers: Pollers;
  readonly queue: QueueWorker;
}

/** Starts the passes, then the pollers and the queue. */
async function startWork(
  deps: Deps,
  { passes, wake, bus, metrics, replicas }: WorkOptions,
  lifecycle: Lifecycle,
): Promise<StartedWork> {
  startWorkers(deps, passes, (name, worker) => {
    if (name === 'outbox' || name === 'batches') wake[name] = () => worker.wake();
    lifecycle.add(name, () => worker.stop());
  });
  const pollers = startPollers(deps);
  wake.polls = (channelId) => pollers.wake(channelId);
  lifecycle.add('polls', () => pollers.stop());
  const queue = startQueue(deps, replicas);
  watchQueue(metrics, deps.queue, queue);
  wake.queue = (tokenId) => queue.wake(tokenId);
  lifecycle.add('queue', () => queue.stop());
  const othersLanes = await onLaneWaits(bus, (lane) => deps.queue.lanes.learn(lane));
  lifecycle.add('lanes of other processes', () => othersLanes.stop());
  return { pollers, queue };
}

/** Each is set when the part that it wakes is started. */
type Wake = { -readonly [K in keyof Deps['wake']]: Deps['wake'][K] };

function newWake(): Wake {
  return {
    outbox: () => undefined,
    events: () => undefined,
    polls: () => undefined,
    queue: () => undefined,
    batches: () => undefined,
  };
}

/** Wakes the queue of the time at which it is called. */
function wakeQueue(wake: Wake): () => void {
  return () => wake.queue();
}

/** Batches share the keys and the events with tasks. */
function batchDeps(
  tasks: Deps,
  {
    sql,
    config,
    ...parts
  }: { readonly sql: Sql; readonly config: TasksConfig } & Pick<RunBatchDeps, 'tokens' | 'jobs' | 'charges'>,
): RunBatchDeps {
  const { store, clock, newId, log, wake, media } = tasks;
  const batches = { ...sqlBatches(sql, newId), findKey: store.findKey.bind(store) };
  return { batches, media, clock, newId, log, limits: config.batch, wake, tasks, ...parts };
}

interface TaskParts {
  readonly sql: Sql;
  readonly config: TasksConfig;
  /** The configuration of the last reload. */
  readonly current: () => TasksConfig;
  readonly channels: ChannelRegistry;
  readonly chance: () => number;
  readonly wake: Deps['wake'];
  readonly processId: string;
  readonly counters: WorkCounters;
  readonly areClocksTrusted: Deps['areClocksTrusted'];
  readonly isKnownAlive: Deps['isKnownAlive'];
  /** The number of live processes. */
  readonly replicas: () => number;
}

function taskDeps(
  { clock, newId, log, bus, metrics, tracing, publicUrl, signingKey, acceptedKeys }: Foundation,
  peers: TasksPeers,
  { sql, config, current, counters, replicas, ...parts }: TaskParts,
): Deps & { readonly count: JobCounts } {
  const media = mediaClient(peers.media);
  return {
    ...parts,
    store: notifyAttention(sqlTaskStore(sql, newId, toFinishedEvent), announceAttention(bus)),
    billing: billingClient(peers.billing, clock),
    media,
    clock,
    newId,
    log,
    tracing,
    callbacks: callbackUrls(publicUrl, acceptedKeys),
    models: () => current().models,
    grants: () => current().grants,
    creating: new Map(),
    webhookAllow: config.webhooks.allow,
    limits: config.limits,
    queue: {
      get limits() {
        return current().queue;
      },
      lanes: newKnownLanes(announceLane(bus)),
      rates: newLaneRates(clock, replicas),
    },
    pollPlan: config.pollPlan,
    mediaUrl: mediaUrls({ bytes: peers.bytes, media, publicUrl, linkKey: linkKey(signingKey), clock }),
    announce: announceChanged(bus),
    isOverloaded: () => sql.pool().waitedMs > WAIT_MS_MAX,
    count: withMinutes(
      tasksMetrics(metrics, {
        models: () => current().models,
        channels: () => current().channels.map(({ id }) => id),
      }),
      counters,
    ),
  };
}

/** Returns a function that draws a number from 0 to 1, exclusive, from the injected source. */
function chanceFrom(random: Random): () => number {
  const word = new Uint32Array(1);
  const bytes = new Uint8Array(word.buffer);
  return () => {
    random(bytes);
    return (word[0] ?? 0) / 2 ** 32;
  };
}

/** Opens a cache of the tokens of billing that drops a token when it is revoked or changed. */
async function openTokens({ bus, clock }: Foundation, findToken: FindToken, lifecycle: Lifecycle): Promise<Tokens> {
  const tokens = newTokenCache(findToken, clock);
  const changes = await bus.listen(TokenChangedSchema, ({ tokenId }) => tokens.drop(tokenId));
  lifecycle.add('token events', () => changes.stop());
  return tokens;
}

/** Opens the channels of the configuration with the limits that the replicas of this service share. */
async function openChannels(
  config: TasksConfig,
  foundation: Foundation,
  lifecycle: Lifecycle,
  options: Required<Pick<ChannelRegistryOptions, 'chance' | 'replicas' | 'isPaused'>> & {
    readonly operators: OperatorStore;
    readonly openPool: OpenPool | undefined;
  },
): Promise<{ readonly channels: ChannelRegistry; readonly waits: SharedWaits }> {
  const waits = newSharedWaits({ ...foundation, ...options, announce: announceWait(foundation.bus) });
  const { limits } = await openLimits(foundation, lifecycle, {
    service: 'tasks',
    url: config.redis,
    deadlineMs: config.redisDeadlineMs,
    replicas: options.replicas,
  });
  const channels = newChannelRegistry((await prepareOwnAdapters(config)).channels, {
    ...options,
    ...{ limits, waits, pollsAfterMs: POLLS_AFTER_MS },
    clock: foundation.clock,
    adapters: channelFactories(ADAPTERS, options.openPool),
    openAdapter: (adapter) => channelFactory(adapter, options.openPool),
  });
  lifecycle.add('channels', () => channels.close());
  watchCircuits(foundation.metrics, channels);
  return { channels, waits };
}
