import type { Bus } from '@reelgate/platform/bus/bus';
import { OUTBOX_BATCH_MAX, relayOutbox } from '@reelgate/platform/bus/outbox';
import { NOTHING_DUE, REST_MAX_MS, startWorker } from '@reelgate/platform/lifecycle/worker';
import type { NextDue, PassResult, Worker } from '@reelgate/platform/lifecycle/worker';
import type { Sql } from '@reelgate/platform/sql/sql';
import { publishFinished } from '../events/task-events.ts';
import { watchDeadlines } from '../operations/attention/watch-deadlines.ts';
import type { Deadlines } from '../operations/attention/watch-deadlines.ts';
import { runBatches } from '../operations/batches/run-batches.ts';
import type { RunBatchDeps } from '../operations/batches/run-batches.ts';
import type { Deps } from '../operations/deps.ts';
import type { JobDeps } from '../operations/jobs/job-deps.ts';
import { reconcileUnknown } from '../operations/recovery/reconcile-unknown.ts';
import { sweepJobs } from '../operations/jobs/end-lost-jobs.ts';
import {
  eraseRemoved,
  removeOldBatches,
  removeOldJobs,
  removeOldTasks,
} from '../operations/retention/remove-old-records.ts';
import { readPrompts, removeLeftWords } from '../operations/search/read-prompts.ts';
import { HEARTBEAT_MS } from './process-liveness.ts';
import type { ProcessLiveness } from './process-liveness.ts';
import { findNextSettlement, settleFinished } from './settle-finished.ts';
import type { SlowSettlements } from './settle-finished.ts';
import { loopUtilization, spareTime } from './spare-time.ts';

const OUTBOX_IDLE_MS = 500;
/** No client waits for a settlement. Those of a moment share their transactions here and in billing. */
const OUTBOX_APART_MS = 50;
const SETTLE_IDLE_MS = 1000;
const RECONCILE_IDLE_MS = 2000;
const DEADLINE_IDLE_MS = 60_000;
const REMOVE_IDLE_MS = 1000;
/** The deleted rows of this time leave the files of the database together. */
const ERASE_IDLE_MS = 5000;
const SWEEP_IDLE_MS = 1000;
const BATCH_IDLE_MS = 100;
const PROMPTS_IDLE_MS = 2000;
/** A service that reads its tasks for the first time leaves its database to creates. */
const PROMPTS_APART_MS = 100;

export interface WorkerParts {
  readonly sql: Sql;
  readonly bus: Bus;
  readonly config: Deadlines & { readonly retentionMs: number };
}

/** `apartMs`: a pass after one that did work begins this long after its begin. */
type Pass = readonly [name: string, idleMs: number, pass: () => Promise<PassResult>, apartMs?: number];

export interface PassParts {
  readonly liveness: ProcessLiveness;
  readonly settlements: SlowSettlements;
  /** True if no other process has the database. Then no other one listens to the heartbeats. */
  readonly isAlone: boolean;
  /** True if every worker that leases jobs lives in this process too. */
  readonly hasAllWorkers: boolean;
}

export interface PassDeps {
  readonly tasks: Deps;
  readonly jobs: JobDeps;
  readonly batches: RunBatchDeps;
}

/** Every pass of a process. */
export function listPasses(
  { tasks, jobs, batches }: PassDeps,
  parts: WorkerParts,
  passParts: PassParts,
): readonly Pass[] {
  const spare = spareTime(tasks.clock, loopUtilization());
  const prompts = { ...tasks, hasSpareTime: () => spare.mayBegin() };
  return [
    ...taskPasses(tasks, parts, passParts),
    ...jobPasses(jobs, passParts.hasAllWorkers),
    ['batches', BATCH_IDLE_MS, () => runBatches(batches)],
    ['batch retention', REMOVE_IDLE_MS, () => removeOldBatches(batches)],
    ['prompts', PROMPTS_IDLE_MS, () => readPrompts(prompts), PROMPTS_APART_MS],
    ['prompt retention', REMOVE_IDLE_MS, () => removeLeftWords(tasks, parts.config.retentionMs)],
  ];
}

const findNothingDue = async (): Promise<NextDue> => NOTHING_DUE;

/**
 * The pass. After a pass without work, `findDue` returns when work is due next. The process that adds work wakes its
 * own pass, so only the work of a process that has died waits for the end of a rest.
 */
function withNextDue(
  pass: () => Promise<number>,
  findDue: () => Promise<NextDue | undefined> = findNothingDue,
): () => Promise<PassResult> {
  return async () => {
    const did = await pass();
    return did > 0 ? did : ((await findDue()) ?? 0);
  };
}

function taskPasses(
  deps: Deps,
  { sql, bus, config }: WorkerParts,
  { liveness, settlements, isAlone }: PassParts,
): readonly Pass[] {
  const beat = (): Promise<number> => liveness.beat();
  return [
    ['outbox', OUTBOX_IDLE_MS, () => relayStaged({ sql, bus }), OUTBOX_APART_MS],
    [
      'settle',
      SETTLE_IDLE_MS,
      withNextDue(
        () => settleFinished(deps, settlements),
        () => findNextSettlement(deps, settlements),
      ),
    ],
    ['reconcile', RECONCILE_IDLE_MS, () => reconcileUnknown(deps)],
    ['deadlines', DEADLINE_IDLE_MS, () => watchDeadlines(deps, config)],
    ['retention', REMOVE_IDLE_MS, () => removeOldTasks(deps, config.retentionMs)],
    ['erase', ERASE_IDLE_MS, () => eraseRemoved(deps)],
    ['heartbeat', HEARTBEAT_MS, isAlone ? withNextDue(beat) : beat],
    ['takeover', HEARTBEAT_MS, () => liveness.takeOver()],
  ];
}

/** A page that is not full was all that is staged. Each end of a task wakes the pass. */
async function relayStaged({ sql, bus }: Pick<WorkerParts, 'sql' | 'bus'>): Promise<PassResult> {
  const did = await relayOutbox(sql, publishFinished(bus));
  return did < OUTBOX_BATCH_MAX ? { ...NOTHING_DUE, did } : did;
}

/** `isAlone`: no worker lives in another process, so a lease that has ended has no worker that could not renew it. */
function jobPasses(jobs: JobDeps, isAlone: boolean): readonly Pass[] {
  const upSince = isAlone ? -Infinity : jobs.clock.now();
  const sweep = (): Promise<number> => sweepJobs(jobs, upSince);
  return [
    ['job sweep', SWEEP_IDLE_MS, withNextDue(sweep, () => findNextLoss(jobs))],
    ['job retention', REMOVE_IDLE_MS, () => removeOldJobs(jobs)],
  ];
}

/** Undefined if a lease may end soon. A lease that begins now ends later. */
async function findNextLoss({ jobs, clock, limits }: JobDeps): Promise<NextDue | undefined> {
  const rest = clock.now() + Math.min(REST_MAX_MS, limits.leaseMs);
  return (await jobs.lostJobs(rest, 1)).length === 0 ? { dueAt: rest } : undefined;
}

export function startWorkers(
  { clock, log }: Deps,
  passes: readonly Pass[],
  keep: (name: string, worker: Worker) => void,
): void {
  for (const [name, idleMs, pass, apartMs] of passes)
    keep(name, startWorker({ name, clock, log, idleMs, apartMs, pass }));
}
