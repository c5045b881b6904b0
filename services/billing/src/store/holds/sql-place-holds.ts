import { inChunks } from '@reelgate/platform/sql/multi-row';
import type { SqlQuery, SqlRunner } from '@reelgate/platform/sql/sql';
import type { Hold } from '../../domain/hold.ts';
import { holdEvent, holdKey } from '../../domain/ledger.ts';
import { insertHolds, findHold } from './hold-rows.ts';
import type { Outcome } from './hold-store.ts';
import { groupsBy } from '../balances/groups.ts';
import { changeAccount, changeToken } from '../balances/sql-balances.ts';
import { reserveAtOnce, reserveForCalls } from '../balances/sql-call-reservations.ts';
import { insertEvents, insertEventLines, insertEventsToCount, withdrawEvent } from '../ledger/sql-ledger-events.ts';

export interface PlacementRequest {
  readonly hold: Hold;
  /** Aborted: the caller has left. */
  readonly signal: AbortSignal | undefined;
}

/** The result of a request: the record of its task, or the reason of its refusal. */
export type HoldPlacement = Outcome | { readonly refusal: unknown };

const REMOVE = 'DELETE FROM holds WHERE task_id = $1';

/** Not every hold of a batch could be placed at once. Its transaction is rolled back. */
export class NotAtOnce extends Error {}

/**
 * Places the holds as nearly all can be: each is the first of its task, covered, and its caller still waits. So every
 * statement is asked for at one moment. Throws `NotAtOnce` if one of them is not so.
 */
export async function placeAtOnce(
  query: SqlRunner,
  requests: readonly PlacementRequest[],
): Promise<readonly HoldPlacement[]> {
  const holds = groupsBy(requests, ({ hold }) => hold.taskId).flatMap((group) => group.slice(0, 1));
  const events = holds.map(({ hold }) => holdEvent(hold));
  const reservations = holds.map(({ hold }) => ({ ...hold, id: hold.taskId }));
  const isAwaited = (): boolean => requests.every(({ signal }) => signal?.aborted !== true);
  if (!isAwaited()) throw new NotAtOnce();
  const [written, , , isCovered] = await Promise.all([
    insertEventsToCount(query, events),
    insertEventLines(query, events),
    Promise.all(inChunks(holds.map(({ hold }) => hold)).map((chunk) => query(...insertHolds(chunk)))),
    reserveAtOnce(query, reservations, holds[0]?.hold.placedAt ?? 0),
  ]);
  if (written < holds.length || !isCovered || !isAwaited()) throw new NotAtOnce();
  const firsts = new Set(holds);
  const placed = new Map(holds.map(({ hold }) => [hold.taskId, hold]));
  return requests.map((request) => {
    const hold = placed.get(request.hold.taskId) ?? request.hold;
    return { record: { state: 'open', hold, deferral: undefined }, isNew: firsts.has(request) };
  });
}

/**
 * Places the holds in the transaction of the query, in the order of their tasks, so that two batches never deadlock. A
 * task with a record keeps it. A refused hold, or a hold that no caller waits for, leaves no row and does not refuse
 * another one.
 */
export async function placeHolds(
  query: SqlQuery,
  requests: readonly PlacementRequest[],
): Promise<readonly HoldPlacement[]> {
  const waiting = groupsBy(
    requests.filter(({ signal }) => signal?.aborted !== true),
    ({ hold }) => hold.taskId,
  );
  const wanted = waiting.flatMap((group) => group.slice(0, 1).map(({ hold }) => hold));
  const written = await insertEvents(query, wanted.map(holdEvent));
  const fresh = wanted.filter(({ taskId }) => written.has(holdKey(taskId)));
  const refusals = await reserveForHolds(query, fresh);
  await removeUnplaced(query, fresh, { refusals, waiting });
  const known = wanted.filter(({ taskId }) => !written.has(holdKey(taskId)));
  const records = new Map<string, Outcome>([
    ...fresh.map(
      (hold) => [hold.taskId, { record: { state: 'open', hold, deferral: undefined }, isNew: true }] as const,
    ),
    ...(await Promise.all(known.map(async ({ taskId }) => [taskId, await mustFind(query, taskId)] as const))),
  ]);
  const firsts = new Set(waiting.map(([first]) => first));
  return requests.map((request) => {
    const { taskId } = request.hold;
    if (request.signal?.aborted === true) return { refusal: request.signal.reason as unknown };
    if (refusals.has(taskId)) return { refusal: refusals.get(taskId) };
    const outcome = records.get(taskId);
    if (outcome === undefined) return { refusal: new Error(`the hold of ${taskId} was neither placed nor refused`) };
    return firsts.has(request) ? outcome : { ...outcome, isNew: false };
  });
}

/** Writes the rows of new holds and reserves their money. Returns the refusals by task. */
async function reserveForHolds(query: SqlQuery, fresh: readonly Hold[]): Promise<Map<string, unknown>> {
  const rows = inChunks(fresh).map((chunk) => query(...insertHolds(chunk)));
  const lines = insertEventLines(query, fresh.map(holdEvent));
  const reservations = fresh.map((hold) => ({ ...hold, id: hold.taskId }));
  const [{ refusals }] = await Promise.all([
    reserveForCalls(query, reservations, fresh[0]?.placedAt ?? 0),
    lines,
    ...rows,
  ]);
  return new Map(refusals);
}

interface RemovalContext {
  readonly refusals: Map<string, unknown>;
  readonly waiting: readonly (readonly PlacementRequest[])[];
}

/** Removes the rows of refused holds, and of holds that their callers have left meanwhile. */
async function removeUnplaced(
  query: SqlQuery,
  fresh: readonly Hold[],
  { refusals, waiting }: RemovalContext,
): Promise<void> {
  const left = new Map(
    waiting.flatMap((group) => {
      const [first] = group;
      const isLeft = group.every(({ signal }) => signal?.aborted === true);
      return first !== undefined && isLeft ? [[first.hold.taskId, first.signal?.reason as unknown] as const] : [];
    }),
  );
  for (const hold of fresh) {
    const { taskId, tokenId, accountId, amount } = hold;
    const hasLeft = left.has(taskId) && !refusals.has(taskId);
    if (!hasLeft && !refusals.has(taskId)) continue;
    await query(REMOVE, [taskId]);
    await withdrawEvent(query, holdKey(taskId));
    if (!hasLeft) continue;
    refusals.set(taskId, left.get(taskId));
    await changeToken(query, tokenId, -amount);
    await changeAccount(query, accountId, { balance: 0n, held: -amount });
  }
}

async function mustFind(query: SqlQuery, taskId: string): Promise<Outcome> {
  const record = await findHold(query, taskId);
  if (record === undefined) throw new Error(`${holdKey(taskId)} is taken, but neither a hold nor a void exists`);
  return { record, isNew: false };
}
