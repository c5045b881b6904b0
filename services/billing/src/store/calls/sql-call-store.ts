import type { Problem } from '@reelgate/platform/problem';
import { byRows, inChunks, parameters, rowValues, valueRows } from '@reelgate/platform/sql/multi-row';
import type { Sql, SqlInteger, SqlQuery, SqlWork } from '@reelgate/platform/sql/sql';
import type { Call, CallRecord } from '../../domain/call.ts';
import { callsHeldEvent } from '../../domain/ledger.ts';
import type { FinancialEvent } from '../../domain/ledger.ts';
import { FROZEN_COLUMNS, listFrozen, findCalls } from './call-rows.ts';
import type { CallStore, PlacedCalls, PlaceOutcome } from './call-store.ts';
import { newRecentCalls, settleCalls } from './sql-settle-calls.ts';
import { postEvent, withdrawEvent } from '../ledger/sql-ledger-events.ts';
import { groupsBy, sumAmounts } from '../balances/groups.ts';
import { reserveForCalls } from '../balances/sql-call-reservations.ts';
import { newTermsCache } from '../prices/sql-price-store.ts';

const PLACED_BEFORE_ROWS = 2;
const INSERT = byRows(
  (rows) => `INSERT INTO calls (${FROZEN_COLUMNS.join(', ')}, placed_at, placed_in)
  VALUES ${valueRows(rows, FROZEN_COLUMNS.length, { first: PLACED_BEFORE_ROWS + 1, rest: ', $1, $2' })}
  ON CONFLICT (id) DO NOTHING`,
);
const ADDED = byRows((rows) => `SELECT id FROM calls WHERE placed_in = $1 AND id IN (${parameters(rows, 2)})`);
const REMOVE = byRows((rows) => `DELETE FROM calls WHERE id IN (${parameters(rows)})`);
const OPEN = 'SELECT id FROM calls WHERE ended_at IS NULL AND lapses_at > $1 LIMIT 1';
const LAPSED = `SELECT id, (SELECT COUNT(*) FROM unconfirmed_batches WHERE batch_id = placed_in) AS unconfirmed
  FROM calls WHERE ended_at IS NULL AND lapses_at <= $1 ORDER BY lapses_at, id LIMIT $2`;

export function sqlCallStore(sql: Sql): CallStore {
  const termsOf = newTermsCache();
  const recent = newRecentCalls();
  return {
    place: async ({ batchId, calls, ahead }) => {
      // a server answers when the batch is durable
      const isUnconfirmed = ahead && sql.engine === 'sqlite';
      const placed = await sql.commitAhead(async (query) => {
        if (isUnconfirmed) await markUnconfirmed(query, batchId, calls);
        return placeBatch(query, batchId, calls);
      });
      for (const outcome of placed.result.outcomes.values())
        if ('record' in outcome && outcome.isNew) recent.add(outcome.record.call);
      return placed;
    },
    end: (batch) => sql.transaction((query) => settleCalls(query, batch, { termsOf, recent })),
    find: (ids) => findCalls(sql.read, ids),
    confirm: (batchId) => confirm(sql, batchId),
    lapsed: async (now, limit) =>
      (await sql.read<{ id: string; unconfirmed: SqlInteger }>(LAPSED, [now, limit])).map(({ id, unconfirmed }) => ({
        id,
        isConfirmed: Number(unconfirmed) === 0,
      })),
    removeLapsedBatches: (now) => removeLapsed(sql, now),
    areOpen: async (now) => (await sql.read(OPEN, [now])).length > 0,
  };
}

async function placeBatch(query: SqlWork, batchId: string, calls: readonly Call[]): Promise<PlacedCalls> {
  const fresh = await insert(query, batchId, calls);
  const groups = groupsBy(fresh, ({ accountId }) => accountId);
  const posted = groups.map((group) => postEvent(query, buildHeldEvent(batchId, group)));
  const [{ refusals, remainders }] = await Promise.all([
    reserveForCalls(query, fresh, fresh[0]?.placedAt ?? 0),
    ...posted,
  ]);
  if (refusals.size > 0) await withdrawRefused(query, { batchId, groups, refusals });
  const known = fresh === calls ? NONE_KNOWN : await findKnown(query, without(calls, fresh));
  return {
    outcomes: new Map(calls.map((call) => [call.id, toPlaceOutcome(call, refusals.get(call.id), known.get(call.id))])),
    remainders,
  };
}

const NONE_KNOWN: ReadonlyMap<string, CallRecord> = new Map();

/** A known call is placed again under the hold of its first batch, which no other batch may confirm. */
async function findKnown(query: SqlQuery, ids: readonly string[]): Promise<ReadonlyMap<string, CallRecord>> {
  await confirmCallBatches(query, ids);
  return findCalls(query, ids);
}

/** The ids of the calls that are not among the others. */
function without(calls: readonly Call[], others: readonly Call[]): string[] {
  const left = new Set(calls.map(({ id }) => id));
  for (const { id } of others) left.delete(id);
  return [...left];
}

/** Inserts in the order of the ids, so that two batches with the same calls never deadlock. Returns the new calls. */
async function insert(query: SqlWork, batchId: string, calls: readonly Call[]): Promise<readonly Call[]> {
  const ordered = [...calls].sort((left, right) => (left.id < right.id ? -1 : 1));
  let count = 0;
  for (const chunk of inChunks(ordered))
    count += await query.changes(
      INSERT(chunk.length),
      rowValues([chunk[0]?.placedAt ?? 0, batchId], chunk, listFrozen),
    );
  if (count === calls.length) return calls;
  const added = new Set<string>();
  for (const chunk of inChunks(ordered.map(({ id }) => id)))
    for (const { id } of await query<{ id: string }>(ADDED(chunk.length), [batchId, ...chunk])) added.add(id);
  return calls.filter(({ id }) => added.has(id));
}

/**
 * The event is posted before the sums of token and account change, because these rows, which all calls share, are
 * locked last. If some calls are then refused, the event is written again without them: no other transaction has seen
 * it yet.
 */
async function withdrawRefused(
  query: SqlWork,
  { batchId, groups, refusals }: { batchId: string; groups: readonly Call[][]; refusals: ReadonlyMap<string, Problem> },
): Promise<void> {
  for (const chunk of inChunks([...refusals.keys()])) await query(REMOVE(chunk.length), chunk);
  for (const group of groups) {
    const held = group.filter(({ id }) => !refusals.has(id));
    if (held.length === group.length) continue;
    await withdrawEvent(query, buildHeldEvent(batchId, group).key);
    if (held.length > 0) await postEvent(query, buildHeldEvent(batchId, held));
  }
}

/** One event for all the calls of an account. Its key is new with the batch. */
function buildHeldEvent(batchId: string, group: readonly Call[]): FinancialEvent {
  const [{ accountId, currency, placedAt: at } = { accountId: '', currency: '', placedAt: 0 }] = group;
  return callsHeldEvent({ batchId, accountId, currency, at, held: sumAmounts(group, ({ amount }) => amount) });
}

function toPlaceOutcome(call: Call, refusal: Problem | undefined, known: CallRecord | undefined): PlaceOutcome {
  if (refusal !== undefined) return { refusal };
  return known === undefined
    ? { record: { call, settlement: undefined }, isNew: true }
    : { record: known, isNew: false };
}

const MARK = 'INSERT INTO unconfirmed_batches (batch_id, lapses_at) VALUES ($1, $2)';
const CONFIRM = 'DELETE FROM unconfirmed_batches WHERE batch_id = $1';
const CONFIRM_OF = byRows(
  (rows) => `DELETE FROM unconfirmed_batches
  WHERE batch_id IN (SELECT placed_in FROM calls WHERE id IN (${parameters(rows)}))`,
);
const OVER = 'SELECT batch_id FROM unconfirmed_batches WHERE lapses_at <= $1 LIMIT 1';
const REMOVE_OVER = 'DELETE FROM unconfirmed_batches WHERE lapses_at <= $1';

/** Marks the batch as unconfirmed: no client may see its answers yet. */
async function markUnconfirmed(query: SqlWork, batchId: string, calls: readonly Call[]): Promise<void> {
  const lapsesAt = calls.reduce((latest, call) => Math.max(latest, call.lapsesAt), 0);
  await query.changes(MARK, [batchId, lapsesAt]);
}

/** From then on a client may see an answer to a call of the batch. The mark survives a kill of the process. */
async function confirm(sql: Sql, batchId: string): Promise<void> {
  await sql.commitUnsynced((query) => query.changes(CONFIRM, [batchId]));
}

/** Confirms the batches in which the calls were placed. */
async function confirmCallBatches(query: SqlQuery, ids: readonly string[]): Promise<void> {
  for (const chunk of inChunks(ids)) await query(CONFIRM_OF(chunk.length), chunk);
}

/** Removes the batches of which every call has lapsed. */
async function removeLapsed(sql: Sql, now: number): Promise<void> {
  if ((await sql.read(OVER, [now])).length > 0) await sql.write(REMOVE_OVER, [now]);
}
