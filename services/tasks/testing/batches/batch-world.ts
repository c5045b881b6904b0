import { isTerminal } from '../../src/domain/task.ts';
import { create } from '@bufbuild/protobuf';
import { BatchCallSchema } from '@reelgate/proto/tasks/v1/batch';
import type { BatchCall } from '@reelgate/proto/tasks/v1/batch';
import type { JobCall } from '@reelgate/proto/tasks/v1/job';
import type { Order } from '../../src/domain/order.ts';
import type { TokenRights } from '../../src/clients/tokens.ts';
import type { TokenReader } from '../../src/operations/cached-tokens.ts';
import type { BatchLimits } from '../../src/operations/batches/batch-deps.ts';
import { createBatch } from '../../src/operations/batches/create-batch.ts';
import type { BatchRequest } from '../../src/operations/batches/create-batch.ts';
import { runBatches } from '../../src/operations/batches/run-batches.ts';
import type { RunBatchDeps } from '../../src/operations/batches/run-batches.ts';
import {
  appendLines,
  finishBatch,
  finishRead,
  leaseBatch,
  listEndedLines,
} from '../../src/operations/batches/work-batches.ts';
import { endTask } from '../../src/operations/ends/end-task.ts';
import { sweepJobs } from '../../src/operations/jobs/end-lost-jobs.ts';
import { finishJob, leaseJobs, startJob } from '../../src/operations/jobs/work-jobs.ts';
import type { JobDeps } from '../../src/operations/jobs/job-deps.ts';
import type { NewBatchLine } from '../../src/store/batch-store.ts';
import type { JobOutcome } from '../../src/store/job-store.ts';
import type { KeyReader } from '../../src/store/task-store.ts';
import { sqlJobs } from '../../src/store/jobs/sql-jobs.ts';
import { sqlBatches } from '../../src/store/batches/sql-batches.ts';
import { fakeMedia } from '../fake-media.ts';
import { LIMITS as JOB_LIMITS } from '../jobs/open-job-world.ts';
import { aCall, anAnswer } from '../jobs/new-jobs.ts';
import { recorded } from '../journal.ts';
import { useWorlds } from '../open-world.ts';
import type { World, WorldOptions } from '../open-world.ts';
import { anOrder } from '../orders.ts';

export const BATCH_LIMITS: BatchLimits = {
  inFlight: 2,
  perAccount: 3,
  leaseMs: 20_000,
  retentionMs: 30 * 24 * 3_600_000,
};

const RIGHTS: TokenRights = {
  accountId: 'acme',
  models: ['*'],
  inFlight: undefined,
  wait: { for: 'channels', class: 'standard' },
  makers: [],
  expiresAt: undefined,
};

/** The operations on batches on a real SQLite store, with the tasks of their lines. */
export interface BatchWorld extends World {
  readonly batches: RunBatchDeps;
  submit(changes?: Partial<BatchRequest>): ReturnType<typeof createBatch>;
  /** Reads a file of these lines as a worker does. Returns whether there was one to read. */
  read(lines?: readonly NewBatchLine[]): Promise<boolean>;
  /** One pass that makes tasks of lines. */
  run(): Promise<void>;
  /** Completes the tasks that have not ended. */
  completeTasks(): Promise<void>;
  /** Ends the jobs whose worker is gone, and makes the calls of those that wait. Returns how many. */
  makeCalls(end?: JobOutcome): Promise<number>;
  /** Writes the files of a batch as a worker does. Returns the numbers of the lines in each. */
  write(): Promise<WrittenFiles | undefined>;
  restart(): Promise<BatchWorld>;
}

export interface WrittenFiles {
  readonly output: readonly number[];
  readonly errors: readonly (readonly [number, string])[];
}

export function aLine(number: number, order: Partial<Order> = {}): NewBatchLine {
  return { number, customId: `line-${number}`, body: { order: anOrder(order) } };
}

export function aBatchCall(call: Partial<JobCall> = {}): BatchCall {
  return create(BatchCallSchema, { call: aCall(call) });
}

/** A line that makes a call. */
export function aCallLine(number: number, call: Partial<JobCall> = {}): NewBatchLine {
  return { number, customId: `line-${number}`, body: aBatchCall(call) };
}

export interface BatchOptions {
  readonly limits?: Partial<BatchLimits>;
  /** The rights of the token, or a refusal. */
  readonly findRights?: () => TokenRights;
  readonly world?: WorldOptions;
}

export function useBatchWorlds(): (options?: BatchOptions) => Promise<BatchWorld> {
  const open = useWorlds();
  return async (options = {}) => inBatches(await open(options.world ?? {}), options);
}

/** The jobs of lines, in the store of their tasks. */
function openJobs({ deps, sql, journal, tracing }: World): JobDeps {
  const { store, clock, newId, log } = deps;
  return {
    jobs: recorded(
      'jobs',
      { ...sqlJobs(sql, newId), findKey: (...which: Parameters<KeyReader['findKey']>) => store.findKey(...which) },
      journal,
    ),
    media: fakeMedia().port,
    calls: { end: async (_callId, how) => how },
    attention: store,
    ...{ clock, newId, log, tracing },
    limits: JOB_LIMITS,
    webhookAllow: new Set(),
    announceQueued: () => undefined,
    announceEnded: () => undefined,
    count: { jobEnded: () => undefined, attention: () => undefined },
  };
}

function inBatches(world: World, options: BatchOptions): BatchWorld {
  const { deps, sql, journal } = world;
  const tokens: TokenReader = { findRights: async () => options.findRights?.() ?? RIGHTS };
  const batches: RunBatchDeps = {
    batches: {
      ...recorded('batches', sqlBatches(sql, deps.newId), journal),
      findKey: (...which) => deps.store.findKey(...which),
    },
    media: deps.media,
    charges: world.billing.charges,
    clock: deps.clock,
    newId: deps.newId,
    log: deps.log,
    limits: { ...BATCH_LIMITS, ...options.limits },
    wake: deps.wake,
    tasks: deps,
    jobs: openJobs(world),
    tokens,
  };
  return {
    ...world,
    batches,
    submit: (changes = {}) =>
      createBatch(batches, {
        accountId: 'acme',
        tokenId: 'token_1',
        requestId: 'req_1',
        endpoint: '/v1/videos',
        inputFileId: 'file_1',
        metadata: {},
        outputExpiresAfterMs: undefined,
        label: undefined,
        ...changes,
      }),
    read: async (lines = [aLine(1), aLine(2), aLine(3)]) => {
      const leased = await leaseBatch(batches);
      if (leased?.work !== 'read') return false;
      const half = Math.ceil(lines.length / 2);
      if (!(await appendLines(batches, leased.lease, lines.slice(0, half)))) return true;
      if (!(await appendLines(batches, leased.lease, lines.slice(half)))) return true;
      await finishRead(batches, leased.lease, { model: 'Alpha-H3', faults: [] });
      return true;
    },
    run: async () => {
      await runBatches(batches);
    },
    completeTasks: async () => {
      for (const task of await deps.store.list({ accountId: 'acme' }, { limit: 100 }))
        if (!isTerminal(task.state)) await endTask(deps, task, { state: 'completed', at: deps.clock.now() });
    },
    makeCalls: async (end = { answer: anAnswer() }) => {
      await sweepJobs(batches.jobs, -Infinity);
      const { taken, lease } = await leaseJobs(batches.jobs, 'gateway', 100);
      for (const { job } of taken) {
        await startJob(batches.jobs, { jobId: job.id, lease });
        await finishJob(batches.jobs, { jobId: job.id, lease }, end);
      }
      return taken.length;
    },
    write: async () => {
      const leased = await leaseBatch(batches);
      if (leased?.work !== 'write') return undefined;
      const page = { after: 0, limit: 100 };
      const output = await listEndedLines(batches, leased.lease, { ...page, withTask: true });
      const errors = await listEndedLines(batches, leased.lease, { ...page, withTask: false });
      await finishBatch(batches, leased.lease, { outputFileId: 'file_2', errorFileId: undefined });
      return {
        output: (output ?? []).map(({ number }) => number),
        errors: (errors ?? []).map(({ number, fault }) => [number, fault?.code ?? ''] as const),
      };
    },
    restart: async () => inBatches(await world.restart(), options),
  };
}
