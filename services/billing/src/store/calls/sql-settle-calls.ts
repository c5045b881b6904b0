import type { SqlQuery, SqlWork } from '@reelgate/platform/sql/sql';
import type { Call, CallCharge, CallStory } from '../../domain/call.ts';
import { callsSettledEvent } from '../../domain/ledger.ts';
import { quantitiesOf } from '../../domain/usage.ts';
import { END_COLUMNS, END_TYPES, toEndRow } from './call-rows.ts';
import type { EndBatch, EndOutcome } from './call-store.ts';
import type { OpenCalls } from './recent-calls.ts';
import { changeAccount, changeToken } from '../balances/sql-balances.ts';
import { findCalls } from './sql-find-calls.ts';
import { recordEvent } from '../ledger/sql-ledger-events.ts';
import { byRows, inPieces, parameters, rowValues, valueRows } from '../sql-multi-row.ts';
import { groupsBy, sumOf } from '../balances/sql-reservations.ts';
import type { TermsOf } from '../prices/sql-price-terms.ts';
import { countUsage } from '../usage/sql-usage-hours.ts';
import type { Charged } from '../usage/sql-usage-hours.ts';

/** A call that another batch ends between the look and the update is found ended by the next look. */
const LOOKS_MAX = 3;
const END_BEFORE_ROWS = 2;
const SETTERS = END_COLUMNS.slice(1)
  .map((column, at) => `${column} = v.column${String(at + 2)}`)
  .join(', ');
// The plus keeps SQLite from walking through all open calls instead of looking up each row by its id.
const END = byRows(
  (rows) => `UPDATE calls SET ended_at = $1, ended_in = $2, ${SETTERS}
  FROM (VALUES ${valueRows(rows, END_COLUMNS.length, { first: END_BEFORE_ROWS + 1, casts: END_TYPES })}) AS v
  WHERE calls.id = v.column1 AND +calls.ended_at IS NULL`,
);
const WON = byRows((rows) => `SELECT id FROM calls WHERE ended_in = $1 AND id IN (${parameters(rows, 2)})`);
/** Stands where a call could be placed, and keeps it out. */
const PRECLUDE = byRows(
  (
    rows,
  ) => `INSERT INTO calls (id, account_id, token_id, amount_nanos, currency, price_key, price_version, seconds, images, input_tokens,
    output_tokens, characters, placed_at, lapses_at, placed_in, basis, charged_nanos, ended_at, ended_in)
  VALUES ${Array.from({ length: rows }, (_, row) => `($${String(row + 2)}, '', '', 0, '', '', 0, 0, 0, 0, 0, 0, $1, $1, '', 'released', 0, $1, '')`).join(', ')}
  ON CONFLICT (id) DO NOTHING RETURNING id`,
);

interface Ended {
  readonly call: Call;
  readonly charge: CallCharge;
}

/** What needs no look into the database. */
export interface Remembered {
  readonly termsOf: TermsOf;
  readonly known: OpenCalls;
}

export async function endCalls(
  query: SqlWork,
  batch: EndBatch,
  remembered: Remembered,
): Promise<Map<string, EndOutcome>> {
  const outcomes = new Map<string, EndOutcome>();
  const ended: Ended[] = [];
  let waiting = [...batch.ends.keys()].sort();
  for (let look = 0; look < LOOKS_MAX && waiting.length > 0; look += 1) {
    const found = await storiesOf(query, waiting, look === 0 ? remembered.known : undefined);
    for (const one of await endOpen(query, { batch, termsOf: remembered.termsOf, ids: waiting, found }, outcomes))
      ended.push(one);
    waiting = waiting.filter((id) => !outcomes.has(id));
  }
  if (waiting.length > 0) throw new Error(`what became of the call ${String(waiting[0])} cannot be read`);
  await move(query, batch, ended);
  return outcomes;
}

/** A call that is remembered is taken to be open; where it is not, the update finds none, and the next look reads it. */
async function storiesOf(
  query: SqlQuery,
  ids: readonly string[],
  known: OpenCalls | undefined,
): Promise<Map<string, CallStory>> {
  if (known === undefined) return findCalls(query, ids);
  const stories = new Map<string, CallStory>();
  for (const id of ids) {
    const call = known.get(id);
    if (call !== undefined) stories.set(id, { call, settlement: undefined });
  }
  if (stories.size === ids.length) return stories;
  for (const [id, story] of await findCalls(
    query,
    ids.filter((one) => !stories.has(one)),
  ))
    stories.set(id, story);
  return stories;
}

interface Looking {
  readonly batch: EndBatch;
  readonly termsOf: TermsOf;
  readonly ids: readonly string[];
  readonly found: ReadonlyMap<string, CallStory>;
}

/** One look: ends those that are open, and tells of those that had ended or are not there. Whatever changes meanwhile has no outcome yet. */
async function endOpen(
  query: SqlWork,
  { batch, termsOf, ids, found }: Looking,
  outcomes: Map<string, EndOutcome>,
): Promise<readonly Ended[]> {
  const open: Ended[] = [];
  const absent: string[] = [];
  for (const id of ids) {
    const story = found.get(id);
    const end = batch.ends.get(id);
    if (end === undefined) continue;
    if (story === undefined && end.basis === 'released') absent.push(id);
    else if (story === undefined || story.settlement !== undefined) outcomes.set(id, { story, charge: undefined });
    else
      open.push({
        call: story.call,
        charge: batch.decide(story.call, await termsOf(query, story.call.facts.priceKey, story.call.priceVersion), end),
      });
  }
  for (const id of await preclude(query, batch, absent)) outcomes.set(id, { story: undefined, charge: undefined });
  const mine = await write(query, batch, open);
  for (const { call, charge } of mine)
    outcomes.set(call.id, {
      story: { call, settlement: { amount: charge.amount, basis: charge.basis, at: batch.at } },
      charge,
    });
  return mine;
}

/** Gives those that were still open. */
async function write(query: SqlWork, { at, batchId }: EndBatch, open: readonly Ended[]): Promise<readonly Ended[]> {
  let count = 0;
  for (const piece of inPieces(open))
    count += await query.changes(
      END(piece.length),
      rowValues([at, batchId], piece, ({ call, charge }) => toEndRow(call.id, charge)),
    );
  if (count === open.length) return open;
  const won = new Set<string>();
  for (const piece of inPieces(open.map(({ call }) => call.id)))
    for (const { id } of await query<{ id: string }>(WON(piece.length), [batchId, ...piece])) won.add(id);
  return open.filter(({ call }) => won.has(call.id));
}

async function preclude(query: SqlQuery, { at }: EndBatch, ids: readonly string[]): Promise<string[]> {
  const kept: string[] = [];
  for (const piece of inPieces(ids))
    kept.push(...(await query<{ id: string }>(PRECLUDE(piece.length), [at, ...piece])).map(({ id }) => id));
  return kept;
}

/** The hours of usage, then tokens, then accounts, each in the order of their ids. */
async function move(query: SqlQuery, { batchId, at }: EndBatch, ended: readonly Ended[]): Promise<void> {
  const byAccount = groupsBy(ended, ({ call }) => call.accountId);
  for (const group of byAccount) {
    const [{ call: { accountId, currency } } = { call: { accountId: '', currency: '' } }] = group;
    const event = callsSettledEvent({
      batchId,
      accountId,
      currency,
      at,
      held: heldOf(group),
      charged: chargedOf(group),
    });
    if (!(await recordEvent(query, event))) throw new Error(`${event.key} is taken, and its batch is new`);
  }
  await countUsage(query, ended.flatMap(chargedUsage), at);
  for (const group of groupsBy(ended, ({ call }) => call.tokenId))
    await changeToken(query, group[0]?.call.tokenId ?? '', chargedOf(group) - heldOf(group));
  for (const group of byAccount)
    await changeAccount(query, group[0]?.call.accountId ?? '', { balance: -chargedOf(group), held: -heldOf(group) });
}

function chargedUsage({ call, charge }: Ended): Charged[] {
  if (charge.basis === 'released') return [];
  const { accountId, tokenId, facts } = call;
  return [
    { accountId, tokenId, priceKey: facts.priceKey, quantities: quantitiesOf(charge.amount, facts, charge.usage) },
  ];
}

function heldOf(group: readonly Ended[]): bigint {
  return sumOf(group, ({ call }) => call.amount);
}

function chargedOf(group: readonly Ended[]): bigint {
  return sumOf(group, ({ charge }) => charge.amount);
}
