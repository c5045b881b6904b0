import { newMomentBatcher } from '@reelgate/platform/batcher';
import { inExactChunks } from '@reelgate/platform/sql/multi-row';
import { StoreUnavailable } from '@reelgate/platform/sql/sql';
import type { SqlQuery, SqlRow, SqlRunner } from '@reelgate/platform/sql/sql';
import { channelAccountScope, channelScope } from '../../domain/in-flight-scope.ts';
import { insertMany } from '../columns.ts';
import type { BeginResult, BeginStore, NewTask } from '../task-store.ts';
import type { Permit } from './counter-shards.ts';
import { awaitBeginResult, takeKeys } from './sql-admission.ts';
import { ATTEMPT } from './sql-history.ts';
import { toCountedRow } from './sql-in-flight.ts';
import type { WithPermitsOfAll } from './sql-permits.ts';
import { ORIGIN } from './task-rows.ts';

/** Of the creates of one moment. A batch that waits for a row does not hold all others up. */
export const BATCH = { batchMax: 64, concurrency: 4 };

/** Full counters that are remembered. */
const FULL_MAX = 10_000;

interface BeginRequest {
  readonly task: NewTask;
  /** The counters that it takes. */
  readonly caps: NewTask['caps'];
  /** Aborted: the caller has left. */
  readonly signal: AbortSignal | undefined;
}

/** Not all creates of a batch could begin. Nothing of it is written. */
class NotTogether extends Error {}

/**
 * Creates that begin at the same moment share a transaction, which writes all of them or fails. If it fails, each
 * begins alone, and fails for its own reason only. A create on a counter that was full for the last create does not
 * share a transaction, so that a client at its limit keeps no others from sharing.
 */
export function newBeginBatcher(withPermitsOfAll: WithPermitsOfAll): BeginStore['begin'] {
  const full = new Set<string>();
  const beginAll = (batch: readonly BeginRequest[]): Promise<BeginResult> => {
    const tasks = batch.map(({ task }) => task);
    const request = {
      works: batch.map(({ task: { id }, caps }) => ({ id, caps })),
      signals: batch.map(({ signal }) => signal),
      trace: tasks.length === 1 ? tasks[0]?.trace : undefined,
    };
    return awaitBeginResult(withPermitsOfAll(request, (query, permits) => insertTasks(query, tasks, permits)));
  };
  const run = async (batch: readonly BeginRequest[]): Promise<readonly BeginResult[]> => {
    const begun = await beginAll(batch);
    if (begun !== 'begun' && batch.length > 1) throw new NotTogether();
    if (begun === 'begun') for (const { caps } of batch) for (const { scope } of caps) full.delete(scope);
    if (typeof begun === 'object' && full.size < FULL_MAX) full.add(begun.capped);
    return batch.map(() => begun);
  };
  const add = newMomentBatcher<BeginRequest, BeginResult>({
    ...BATCH,
    run,
    isFinal: isAway,
    listSharing: (batch) => listSharing(batch, full),
  });
  return async (task, signal) => {
    signal?.throwIfAborted();
    return add({ task, caps: [...task.caps, ...listChannelCaps(task.attempt)], signal });
  };
}

/**
 * The database is away, so no create can succeed alone, or the transaction may be committed, and no part of it runs
 * again.
 */
export function isAway(error: unknown): boolean {
  return error instanceof StoreUnavailable && !error.isContention;
}

/** The creates that a caller still waits for and whose counters may have room, one for each idempotency key. */
function listSharing(batch: readonly BeginRequest[], full: ReadonlySet<string>): readonly BeginRequest[] {
  const keys = new Set<string>();
  return batch.filter(({ task: { accountId, idempotency }, caps, signal }) => {
    if (signal?.aborted === true || caps.some(({ scope }) => full.has(scope))) return false;
    if (idempotency === undefined) return true;
    const key = JSON.stringify([accountId, idempotency.key]);
    if (keys.has(key)) return false;
    keys.add(key);
    return true;
  });
}

/** The counters of the attempt's channel: the counter of all its tasks, then the counter of the account. */
export function listChannelCaps(attempt: NewTask['attempt']): NewTask['caps'] {
  if (attempt === undefined) return [];
  const { channel, inFlightMax, ofAccount } = attempt;
  const ofChannel = { scope: channelScope(channel), limit: inFlightMax };
  if (ofAccount === undefined) return [ofChannel];
  const { accountId, inFlightMax: limit } = ofAccount;
  return [ofChannel, { scope: channelAccountScope(channel, accountId), limit }];
}

const INSERT_TASKS = insertMany('tasks', [
  ...ORIGIN.names,
  'kind',
  'model',
  'admission',
  'owner',
  'state',
  'updated_at',
  'channel',
  'webhook_url',
  'in_flight_json',
  'shards_json',
]);
const INSERT_ATTEMPTS = insertMany('attempts', ['task_id', ...ATTEMPT.names]);

/** The keys come first: a create waits for another create with its key before it locks other rows. */
async function insertTasks(
  query: SqlRunner,
  tasks: readonly NewTask[],
  permits: readonly (readonly Permit[])[],
): Promise<void> {
  const claims = tasks.flatMap((owner) =>
    owner.idempotency === undefined ? [] : [{ owner, idempotency: owner.idempotency }],
  );
  const attempts = tasks.flatMap(({ id: taskId, attempt, createdAt: at }) =>
    attempt === undefined ? [] : [{ taskId, number: 1, channel: attempt.channel, at }],
  );
  const rows = tasks.map((task, index) => toTaskRow(task, permits[index] ?? []));
  await Promise.all([
    takeKeys(query, claims),
    ...inExactChunks(rows).map((chunk) => query(...INSERT_TASKS(chunk))),
    insertStarted(query, attempts),
  ]);
}

function toTaskRow(task: NewTask, permits: readonly Permit[]): SqlRow {
  return {
    ...ORIGIN.write(task),
    kind: task.order.kind,
    model: task.order.model,
    admission: 'submitting',
    owner: task.owner,
    state: 'queued',
    updated_at: task.createdAt,
    channel: task.attempt?.channel ?? null,
    webhook_url: task.webhookUrl ?? null,
    ...toCountedRow(permits),
  };
}

interface NewAttempt {
  readonly taskId: string;
  readonly number: number;
  readonly channel: string;
  readonly at: number;
}

/** Writes attempts before they are sent. */
export async function insertStarted(query: SqlQuery, attempts: readonly NewAttempt[]): Promise<void> {
  const rows = attempts.map(({ taskId, number, channel, at }) => ({
    task_id: taskId,
    ...ATTEMPT.write({ number, channel, outcome: 'started', startedAt: at }),
  }));
  await Promise.all(inExactChunks(rows).map((chunk) => query(...INSERT_ATTEMPTS(chunk))));
}
