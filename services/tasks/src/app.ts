import type { Bus } from '@reelgate/platform/bus/bus';
import type { Foundation, RunningService } from '@reelgate/platform/foundation';
import type { Random } from '@reelgate/platform/ids';
import { openLifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import { awaitSql } from '@reelgate/platform/sql/await-sql';
import type { Sql } from '@reelgate/platform/sql/sql';
import { gaugeSampler } from '@reelgate/platform/metrics/sampled-gauges';
import { relayOutbox, watchOutbox } from '@reelgate/platform/bus/outbox';
import { bind } from '@reelgate/platform/rpc/service';
import type { Client } from '@reelgate/platform/rpc/service';
import { startWorker } from '@reelgate/platform/lifecycle/worker';
import type { Worker } from '@reelgate/platform/lifecycle/worker';
import type { CallService } from '@reelgate/proto/billing/v1/call_service';
import type { BillingService } from '@reelgate/proto/billing/v1/billing_service';
import type { MediaService } from '@reelgate/proto/media/v1/media_service';
import { JobService } from '@reelgate/proto/tasks/v1/job_service';
import { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import { TaskService } from '@reelgate/proto/tasks/v1/task_service';
import { callbackUrls } from './callback-urls.ts';
import { openChannels } from './channels/open-channels.ts';
import { billingClient } from './clients/billing.ts';
import { callsClient } from './clients/calls.ts';
import type { Calls } from './clients/calls.ts';
import { mediaClient } from './clients/media.ts';
import type { MediaBytes } from './clients/media-bytes.ts';
import { billingTokens } from './clients/tokens.ts';
import { tasksConfig } from './config.ts';
import type { TasksConfig } from './config.ts';
import { watchBacklogs } from './tasks-gauges.ts';
import { tasksMetrics, watchReplicas } from './tasks-metrics.ts';
import { announceEnded, announceQueued } from './events/job-events.ts';
import { announceChanged, finishedEvent, publishFinished } from './events/task-events.ts';
import { onTokenChanged } from './events/on-token-changed.ts';
import { mediaUrls } from './media-url.ts';
import { cachedTokens } from './operations/cached-tokens.ts';
import type { Tokens } from './operations/cached-tokens.ts';
import { openContent } from './operations/content/open-content.ts';
import type { Deps } from './operations/deps.ts';
import type { JobCounts, JobDeps } from './operations/jobs/job-deps.ts';
import { reconcileUnknown } from './operations/recovery/reconcile-unknown.ts';
import { removeOldTasks } from './operations/retention/remove-old-tasks.ts';
import { removeOldJobs } from './operations/retention/remove-old-jobs.ts';
import { sweepJobs } from './operations/recovery/sweep-jobs.ts';
import { watchDeadlines } from './operations/attention/watch-deadlines.ts';
import { tasksSelfChecks } from './self-checks.ts';
import { jobService } from './rpc/job-service.ts';
import { contentMethods } from './rpc/content-methods.ts';
import { operatorService } from './rpc/operator-service.ts';
import { taskService } from './rpc/task-service.ts';
import { watchService } from './rpc/watch-service.ts';
import { sqlJobs } from './store/jobs/sql-jobs.ts';
import { sqlBacklog } from './store/tasks/sql-backlog.ts';
import { sqlSelfChecks } from './store/tasks/sql-self-checks.ts';
import { sqlTaskStore } from './store/tasks/sql-task-store.ts';
import { drainWork, handOver } from './workers/hand-over.ts';
import { HEARTBEAT_MS, openProcessLiveness } from './workers/process-liveness.ts';
import type { ProcessLiveness } from './workers/process-liveness.ts';
import { startPollers } from './workers/pollers.ts';
import { settleFinished } from './workers/settle-finished.ts';
import type { SlowSettlements } from './workers/settle-finished.ts';
import { startWatches } from './workers/watches.ts';

export { httpMediaBytes } from './clients/http-media-bytes.ts';
export { collect } from './clients/media-bytes.ts';
export type { MediaBytes } from './clients/media-bytes.ts';

const OUTBOX_IDLE_MS = 500;
/** No client waits for a settlement. Those of a moment share their transactions here and in billing. */
const OUTBOX_APART_MS = 50;
const SETTLE_IDLE_MS = 1000;
const RECONCILE_IDLE_MS = 2000;
const DEADLINE_IDLE_MS = 60_000;
const REMOVE_IDLE_MS = 1000;
const SWEEP_IDLE_MS = 1000;
/** While calls wait for a connection this long, new creates are refused, so that those that have begun go on. */
const WAIT_MS_MAX = 2000;

export interface TasksPeers {
  readonly billing: Client<typeof BillingService>;
  readonly calls: Client<typeof CallService>;
  readonly media: Client<typeof MediaService>;
  readonly bytes: MediaBytes;
}

/** Starts the tasks service. What a crash interrupted is settled before this resolves. */
export async function startTasks(
  config: TasksConfig,
  foundation: Foundation,
  peers: TasksPeers,
): Promise<RunningService> {
  const { clock, log, bus, newId } = foundation;
  const lifecycle = openLifecycle(log);
  const sql = await awaitSql({ ...config.store, dataDir: foundation.dataDir }, foundation);
  lifecycle.add('database', () => sql.close());

  let current = config;
  const workers = new Map<string, Worker>();
  const chance = chanceFrom(foundation.random);
  let liveProcesses = (): number => 1;
  const channels = await openChannels(config, foundation, lifecycle, { chance, replicas: () => liveProcesses() });
  let wakePolls = (_channelId: string): void => undefined;
  const deps: Deps & { readonly count: JobCounts } = {
    store: sqlTaskStore(sql, newId, finishedEvent),
    billing: billingClient(peers.billing),
    media: mediaClient(peers.media),
    channels,
    clock,
    newId,
    chance,
    log,
    tracing: foundation.tracing,
    callbacks: callbackUrls(foundation.publicUrl, foundation.acceptedKeys),
    webhookAllow: config.webhooks.allow,
    models: () => current.models,
    grants: () => current.grants,
    processId: newId('proc'),
    creating: new Map(),
    limits: config.limits,
    pollPlan: config.pollPlan,
    mediaUrl: mediaUrls({
      bytes: peers.bytes,
      media: mediaClient(peers.media),
      publicUrl: foundation.publicUrl,
      signingKey: foundation.signingKey,
      clock,
    }),
    announce: announceChanged(bus),
    isOverloaded: () => sql.pool().waitedMs > WAIT_MS_MAX,
    wake: {
      outbox: () => workers.get('outbox')?.wake(),
      polls: (channelId) => {
        wakePolls(channelId);
      },
    },
    count: tasksMetrics(foundation.metrics, {
      models: () => current.models,
      channels: () => current.channels.map(({ id }) => id),
    }),
  };

  foundation.checks?.add(...tasksSelfChecks(deps, { backlog: sqlBacklog(sql), checks: sqlSelfChecks(sql) }));
  const tokens = await openTokens(foundation, peers, lifecycle);
  const jobs = jobDeps(deps, { sql, bus, config, calls: callsClient(peers.calls) });
  const liveness = openProcessLiveness(deps, sql.engine === 'sqlite');
  liveProcesses = () => liveness.count();
  watchReplicas(foundation.metrics, liveProcesses);
  const sampler = gaugeSampler(foundation.metrics, { service: 'tasks', clock, log });
  watchBacklogs(sampler, { tasks: sqlBacklog(sql), jobs: jobs.jobs, channels, clock });
  watchOutbox(sampler, { sql, service: 'tasks', clock });
  await liveness.recoverAtStart();
  lifecycle.add('process', () => handOver(deps));
  const settlements: SlowSettlements = new Map();
  lifecycle.add('settlements', () => Promise.all(settlements.values()).then(() => undefined));
  const passes = [...taskPasses(deps, { sql, bus, config }, { liveness, settlements }), ...jobPasses(jobs)];
  startWorkers(deps, passes, (name, worker) => {
    workers.set(name, worker);
    lifecycle.add(name, () => worker.stop());
  });
  const pollers = startPollers(deps);
  wakePolls = (channelId) => {
    pollers.wake(channelId);
  };
  lifecycle.add('polls', () => pollers.stop());
  const watches = await startWatches({ ...deps, bus, metrics: foundation.metrics }, lifecycle);

  return {
    bindings: [
      bind(TaskService, {
        ...taskService(deps, tokens),
        ...watchService(watches, clock),
        ...contentMethods(openContent(foundation, deps, peers.bytes)),
      }),
      bind(OperatorService, operatorService(deps, jobs)),
      bind(JobService, jobService(jobs, tokens)),
    ],
    routes: [],
    ready: async () => (await sql.reserved.read('SELECT 1 AS one')).length === 1,
    reload: async (value) => {
      current = tasksConfig(value, foundation.publicUrl);
      channels.replace(current.channels);
      pollers.renew();
    },
    // Other services can record the end of a call only here.
    isNeeded: async () => (await jobs.jobs.pendingJobs()).some(({ state }) => state === 'in_progress'),
    drain: (drain) => drainWork(deps, pollers, drain),
    stop: () => lifecycle.stop(),
  };
}

async function openTokens({ bus, clock }: Foundation, { billing }: TasksPeers, lifecycle: Lifecycle): Promise<Tokens> {
  const tokens = cachedTokens(billingTokens(billing), clock);
  const changes = await onTokenChanged(bus, tokens);
  lifecycle.add('token events', () => changes.stop());
  return tokens;
}

interface WorkerParts {
  readonly sql: Sql;
  readonly bus: Bus;
  readonly config: TasksConfig;
}

type Pass = readonly [name: string, idleMs: number, pass: () => Promise<number>, apartMs?: number];

function taskPasses(
  deps: Deps,
  { sql, bus, config }: WorkerParts,
  { liveness, settlements }: { readonly liveness: ProcessLiveness; readonly settlements: SlowSettlements },
): readonly Pass[] {
  return [
    ['outbox', OUTBOX_IDLE_MS, () => relayOutbox(sql, publishFinished(bus)), OUTBOX_APART_MS],
    ['settle', SETTLE_IDLE_MS, () => settleFinished(deps, settlements)],
    ['reconcile', RECONCILE_IDLE_MS, () => reconcileUnknown(deps)],
    ['deadlines', DEADLINE_IDLE_MS, () => watchDeadlines(deps, config)],
    ['retention', REMOVE_IDLE_MS, () => removeOldTasks(deps, config.retentionMs)],
    ['heartbeat', HEARTBEAT_MS, () => liveness.beat()],
    ['takeover', HEARTBEAT_MS, () => liveness.takeOver()],
  ];
}

function jobPasses(jobs: JobDeps): readonly Pass[] {
  const upSince = jobs.clock.now();
  return [
    ['job sweep', SWEEP_IDLE_MS, () => sweepJobs(jobs, upSince)],
    ['job retention', REMOVE_IDLE_MS, () => removeOldJobs(jobs)],
  ];
}

function startWorkers(
  { clock, log }: Deps,
  passes: readonly Pass[],
  keep: (name: string, worker: Worker) => void,
): void {
  for (const [name, idleMs, pass, apartMs] of passes)
    keep(name, startWorker({ name, clock, log, idleMs, apartMs, pass }));
}

function jobDeps(
  { store, media, clock, newId, log, tracing, webhookAllow, count }: Deps & { readonly count: JobCounts },
  { sql, bus, config, calls }: WorkerParts & { readonly calls: Calls },
): JobDeps {
  const jobs: JobDeps['jobs'] = { ...sqlJobs(sql, newId), findKey: (...which) => store.findKey(...which) };
  return {
    jobs,
    media,
    calls,
    attention: store,
    clock,
    newId,
    log,
    tracing,
    limits: config.jobs,
    webhookAllow,
    announceQueued: announceQueued(bus),
    announceEnded: announceEnded(bus),
    count,
  };
}

/** A number from 0 to 1, exclusive, from the injected source. */
function chanceFrom(random: Random): () => number {
  const word = new Uint32Array(1);
  const bytes = new Uint8Array(word.buffer);
  return () => {
    random(bytes);
    return (word[0] ?? 0) / 2 ** 32;
  };
}
