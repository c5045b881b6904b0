import { byRows, inChunks, parameters, rowValues, valueRows } from '@reelgate/platform/sql/multi-row';
import { listValues } from '@reelgate/platform/sql/named-values';
import type { SqlQuery, SqlWork } from '@reelgate/platform/sql/sql';
import type { Call, CallRecord, CostedCharge } from '../../domain/call.ts';
import { callsSettledEvent } from '../../domain/ledger.ts';
import { countMargin } from '../../domain/margin.ts';
import { computeQuantities } from '../../domain/usage.ts';
import { END_COLUMNS, END_TYPES, toEndRow, findCalls } from './call-rows.ts';
import type { EndBatch, EndOutcome } from './call-store.ts';
import { buildAccountChange, buildTokenChange } from '../balances/sql-balances.ts';
import { buildPostings } from '../ledger/sql-ledger-events.ts';
import { groupsBy, sumAmounts } from '../balances/groups.ts';
import type { TermsOf } from '../prices/sql-price-store.ts';
import { buildUsageCounts } from '../usage/sql-usage-hours.ts';
import type { UsageCharge } from '../usage/sql-usage-hours.ts';

/** A call that another batch ends between the read and the update is found ended by the next read. */
const READS_MAX = 3;
const END_BEFORE_ROWS = 2;
const SETTERS = END_COLUMNS.slice(1)
  .map((column, index) => `${column} = v.column${index + 2}`)
  .join(', ');
// Because of the plus, SQLite looks up each row by its id and does not scan all open calls.
const END = byRows(
  (rows) => `UPDATE calls SET ended_at = $1, ended_in = $2, ${SETTERS}
  FROM (VALUES ${valueRows(rows, END_COLUMNS.length, { first: END_BEFORE_ROWS + 1, casts: END_TYPES })}) AS v
  WHERE calls.id = v.column1 AND +calls.ended_at IS NULL`,
);
const ENDED_HERE = byRows((rows) => `SELECT id FROM calls WHERE ended_in = $1 AND id IN (${parameters(rows, 2)})`);
const VOID_VALUES = "'', '', 0, '', '', 0, 0, 0, 0, 0, 0, $1, $1, '', 'released', 0, $1, ''";
/** Writes a released call under the id, so that no call can be placed under it. */
const PRECLUDE = byRows(
  (
    rows,
  ) => `INSERT INTO calls (id, account_id, token_id, amount_nanos, currency, price_key, price_version, seconds, images,
    input_tokens, output_tokens, characters, placed_at, lapses_at, placed_in, basis, charged_nanos, ended_at, ended_in)
  VALUES ${Array.from({ length: rows }, (_, row) => `($${row + 2}, ${VOID_VALUES})`).join(', ')}
  ON CONFLICT (id) DO NOTHING RETURNING id`,
);

interface EndedCall {
  readonly call: Call;
  readonly charge: CostedCharge;
}

/** The facts that are known without a read of the database. */
export interface CallCaches {
  readonly termsOf: TermsOf;
  readonly recent: RecentCalls;
}

/** Ends the calls of a batch in the transaction of the query. */
export async function settleCalls(
  query: SqlWork,
  batch: EndBatch,
  { termsOf, recent }: CallCaches,
): Promise<Map<string, EndOutcome>> {
  const outcomes = new Map<string, EndOutcome>();
  const ended: EndedCall[] = [];
  let waiting = [...batch.ends.keys()].sort();
  for (let reads = 0; reads < READS_MAX && waiting.length > 0; reads += 1) {
    const found = await readRecords(query, waiting, reads === 0 ? recent : undefined);
    for (const one of await endOpen(query, { batch, termsOf, ids: waiting, found }, outcomes)) ended.push(one);
    waiting = waiting.filter((id) => !outcomes.has(id));
  }
  if (waiting.length > 0) throw new Error(`the record of the call ${String(waiting[0])} cannot be read`);
  postEnds(query, batch, ended);
  return outcomes;
}

/**
 * Assumes that a recent call is open. If it is not, the update changes no row, and the next read finds how it ended.
 */
async function readRecords(
  query: SqlQuery,
  ids: readonly string[],
  recent: RecentCalls | undefined,
): Promise<Map<string, CallRecord>> {
  if (recent === undefined) return findCalls(query, ids);
  const records = new Map<string, CallRecord>();
  for (const id of ids) {
    const call = recent.get(id);
    if (call !== undefined) records.set(id, { call, settlement: undefined });
  }
  if (records.size === ids.length) return records;
  for (const [id, record] of await findCalls(
    query,
    ids.filter((one) => !records.has(one)),
  ))
    records.set(id, record);
  return records;
}

interface OpenCalls {
  readonly batch: EndBatch;
  readonly termsOf: TermsOf;
  readonly ids: readonly string[];
  readonly found: ReadonlyMap<string, CallRecord>;
}

/**
 * Ends the open calls, and gives the outcome of those that had ended or are unknown. A call that changed meanwhile has
 * no outcome yet.
 */
async function endOpen(
  query: SqlWork,
  { batch, termsOf, ids, found }: OpenCalls,
  outcomes: Map<string, EndOutcome>,
): Promise<readonly EndedCall[]> {
  const open: EndedCall[] = [];
  const absent: string[] = [];
  for (const id of ids) {
    const record = found.get(id);
    const end = batch.ends.get(id);
    if (end === undefined) continue;
    if (record === undefined && end.basis === 'released') absent.push(id);
    else if (record === undefined || record.settlement !== undefined) outcomes.set(id, { record, charge: undefined });
    else
      open.push({
        call: record.call,
        charge: batch.decide(
          record.call,
          await termsOf(query, record.call.facts.priceKey, record.call.priceVersion),
          end,
        ),
      });
  }
  for (const id of await preclude(query, batch, absent)) outcomes.set(id, { record: undefined, charge: undefined });
  const ended = await writeEnds(query, batch, open);
  for (const { call, charge } of ended)
    outcomes.set(call.id, {
      record: { call, settlement: { amount: charge.amount, basis: charge.basis, at: batch.at } },
      charge,
    });
  return ended;
}

/** Returns the calls that were still open. */
async function writeEnds(
  query: SqlWork,
  { at, batchId }: EndBatch,
  open: readonly EndedCall[],
): Promise<readonly EndedCall[]> {
  let count = 0;
  for (const chunk of inChunks(open))
    count += await query.changes(
      END(chunk.length),
      rowValues([at, batchId], chunk, ({ call, charge }) => listValues(END_COLUMNS, toEndRow(call.id, charge))),
    );
  if (count === open.length) return open;
  const endedHere = new Set<string>();
  for (const chunk of inChunks(open.map(({ call }) => call.id)))
    for (const { id } of await query<{ id: string }>(ENDED_HERE(chunk.length), [batchId, ...chunk])) endedHere.add(id);
  return open.filter(({ call }) => endedHere.has(call.id));
}

async function preclude(query: SqlQuery, { at }: EndBatch, ids: readonly string[]): Promise<string[]> {
  const kept: string[] = [];
  for (const chunk of inChunks(ids))
    kept.push(...(await query<{ id: string }>(PRECLUDE(chunk.length), [at, ...chunk])).map(({ id }) => id));
  return kept;
}

/**
 * Changes the hours of usage, then tokens, then accounts, each in the order of their ids. Other transactions wait for
 * these rows, so they travel with the commit.
 */
function postEnds(query: SqlWork, { batchId, at }: EndBatch, ended: readonly EndedCall[]): void {
  const byAccount = groupsBy(ended, ({ call }) => call.accountId).flatMap((group) => {
    const [{ call } = {}] = group;
    return call === undefined ? [] : [{ ...call, held: sumHeld(group), charged: sumCharged(group) }];
  });
  query.atEnd(
    ...buildPostings(
      byAccount.map(({ accountId, currency, held, charged }) =>
        callsSettledEvent({ batchId, accountId, currency, at, held, charged }),
      ),
    ),
    ...buildUsageCounts(ended.flatMap(toUsageCharges), at),
    ...groupsBy(ended, ({ call }) => call.tokenId).map((group) =>
      buildTokenChange(group[0]?.call.tokenId ?? '', sumCharged(group) - sumHeld(group)),
    ),
    ...byAccount.map(({ accountId, held, charged }) =>
      buildAccountChange(accountId, { balance: -charged, held: -held }),
    ),
  );
}

function toUsageCharges({ call, charge }: EndedCall): UsageCharge[] {
  if (charge.basis === 'released') return [];
  const { accountId, tokenId, facts, label } = call;
  return [
    {
      accountId,
      tokenId,
      priceKey: facts.priceKey,
      label,
      quantities: computeQuantities(charge.amount, facts, charge.usage),
      margin: countMargin(charge.amount, charge.cost),
    },
  ];
}

function sumHeld(group: readonly EndedCall[]): bigint {
  return sumAmounts(group, ({ call }) => call.amount);
}

function sumCharged(group: readonly EndedCall[]): bigint {
  return sumAmounts(group, ({ charge }) => charge.amount);
}

/** A call takes about 300 bytes. There are two generations of this size. */
const GENERATION_MAX = 20_000;

/**
 * The calls that this process placed last. Their frozen fields need not be read back; only the database knows whether
 * they are open.
 */
export interface RecentCalls {
  get(id: string): Call | undefined;
  add(call: Call): void;
}

/**
 * A whole generation is dropped at once. To remove each call at its end costs more, and slows the garbage collector
 * (see `ActiveSet`).
 */
export function newRecentCalls(): RecentCalls {
  let newest = new Map<string, Call>();
  let older = new Map<string, Call>();
  return {
    get: (id) => newest.get(id) ?? older.get(id),
    add: (call) => {
      if (newest.size >= GENERATION_MAX) {
        older = newest;
        newest = new Map();
      }
      newest.set(call.id, call);
    },
  };
}
