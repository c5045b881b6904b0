import type { Sql, SqlQuery } from '@reelgate/platform/sql/sql';
import { whileAwaited } from '@reelgate/platform/sql/while-awaited';
import type { Hold, HoldRecord } from '../../domain/hold.ts';
import { SERVICE_ACTOR, extendEvent, holdEvent, holdKey, releaseEvent, settleEvent } from '../../domain/ledger.ts';
import type { FinancialEvent } from '../../domain/ledger.ts';
import type { Nanos } from '../../domain/money.ts';
import type { PriceTerms } from '../../domain/price-terms.ts';
import type { Ending } from '../../domain/settlement.ts';
import { quantitiesOf } from '../../domain/usage.ts';
import { HOLD_COLUMNS, INSERT_HOLD, deferralAt, releasedAt, toHoldRecord, toHoldRow } from './hold-rows.ts';
import type { HoldRow } from './hold-rows.ts';
import type { HoldStore, Outcome, Repricing } from './hold-store.ts';
import { assertCovered, changeBoth, reserveForNew, reserveMore } from '../balances/sql-hold-reservations.ts';
import { recordEvent, recordVoid } from '../ledger/sql-ledger-events.ts';
import { cachedTerms } from '../prices/sql-price-terms.ts';
import type { TermsOf } from '../prices/sql-price-terms.ts';
import { countUsage } from '../usage/sql-usage-hours.ts';

type Whole = number | bigint;
type OpenHold = Extract<HoldRecord, { state: 'open' }>;

const FIND = `SELECT ${HOLD_COLUMNS} FROM holds WHERE task_id = $1`;
/** Changes nothing, but locks the row: a transaction that waits for it then reads what this one wrote. */
const LOCK = `UPDATE holds SET state = state WHERE task_id = $1 RETURNING ${HOLD_COLUMNS}`;
const FIND_VOID = "SELECT occurred_at FROM financial_events WHERE event_key = $1 AND kind = 'void'";
const EXTEND = `UPDATE holds SET amount_nanos = $1, resolution = $2, seconds = $3, input_video_seconds = $4,
    images = $5, input_tokens = $6, output_tokens = $7, characters = $8 WHERE task_id = $9`;
const SETTLE = `UPDATE holds SET state = 'settled', basis = $1, charged_nanos = $2, ended_at = $3, used_seconds = $4,
    used_input_tokens = $5, used_output_tokens = $6 WHERE task_id = $7`;
const RELEASE = "UPDATE holds SET state = 'released', ended_at = $1 WHERE task_id = $2";
const DEFER = 'UPDATE holds SET deferred_nanos = $1, deferred_at = $2 WHERE task_id = $3';
const LINES = `SELECT e.event_key, l.book, l.amount_nanos, e.occurred_at
  FROM financial_events e JOIN ledger_lines l ON l.event_key = e.event_key
  WHERE e.task_id = $1 ORDER BY e.occurred_at, CASE e.kind WHEN 'hold' THEN 0 WHEN 'extend' THEN 1 ELSE 2 END, l.book`;

export function sqlHoldStore(sql: Sql): HoldStore {
  const termsOf = cachedTerms();
  return {
    place: (hold, signal) => sql.transaction((query) => whileAwaited(signal, () => place(query, hold))),
    assertCovered: (owner, amount, now) => assertCovered(sql.read, owner, { amount, now }),
    extend: (taskId, at, reprice) => sql.transaction((query) => extend(query, { taskId, at, termsOf }, reprice)),
    end: (taskId, at, decide) => sql.transaction((query) => end(query, { taskId, at, termsOf }, decide)),
    preclude: (taskId, at) =>
      sql.transaction((query) => recordVoid(query, { key: holdKey(taskId), taskId, actor: SERVICE_ACTOR, at })),
    find: (taskId) => find(sql.read, taskId),
    lines: async (taskId) => {
      const rows = await sql.read<{ event_key: string; book: string; amount_nanos: Whole; occurred_at: Whole }>(LINES, [
        taskId,
      ]);
      return rows.map((row) => ({
        eventKey: row.event_key,
        book: row.book,
        amount: BigInt(row.amount_nanos),
        at: Number(row.occurred_at),
      }));
    },
  };
}

async function place(query: SqlQuery, hold: Hold): Promise<Outcome> {
  if (!(await recordEvent(query, holdEvent(hold)))) {
    const record = await find(query, hold.taskId);
    if (record === undefined) throw new Error(`${holdKey(hold.taskId)} is taken, but neither a hold nor a void exists`);
    return { record, isNew: false };
  }
  await query(INSERT_HOLD, toHoldRow(hold));
  await reserveForNew(query, hold, hold.amount, hold.placedAt);
  return { record: { state: 'open', hold, deferral: undefined }, isNew: true };
}

interface Change {
  readonly taskId: string;
  readonly at: number;
  readonly termsOf: TermsOf;
}

async function extend(
  query: SqlQuery,
  { taskId, at, termsOf }: Change,
  reprice: (hold: Hold, terms: PriceTerms) => Repricing,
): Promise<Outcome | undefined> {
  const record = await lock(query, taskId);
  if (record?.state !== 'open') return record && { record, isNew: false };
  const { hold } = record;
  const { amount, facts } = reprice(hold, await termsOf(query, hold.facts.priceKey, hold.priceVersion));
  const more = amount - hold.amount;
  if (!(await recordEvent(query, extendEvent(hold, more, at)))) return { record, isNew: false };
  await query(EXTEND, [
    amount,
    facts.resolution,
    facts.seconds,
    facts.inputVideoSeconds,
    facts.images,
    facts.inputTokens,
    facts.outputTokens,
    facts.characters,
    taskId,
  ]);
  await reserveMore(query, hold, more);
  return { record: { ...record, hold: { ...hold, amount, facts } }, isNew: true };
}

async function end(
  query: SqlQuery,
  { taskId, at, termsOf }: Change,
  decide: (hold: Hold, terms: PriceTerms) => Ending,
): Promise<Outcome | undefined> {
  const record = await lock(query, taskId);
  if (record?.state !== 'open') return record && { record, isNew: false };
  const { hold } = record;
  const ending = decide(hold, await termsOf(query, hold.facts.priceKey, hold.priceVersion));
  if (ending.kind === 'defer') return defer(query, record, ending.amount, at);
  if (ending.kind === 'release') {
    await query(RELEASE, [at, taskId]);
    await post(query, releaseEvent(hold, at));
    await changeBoth(query, hold, { balance: 0n, held: -hold.amount });
    return { record: { state: 'ended', hold, settlement: releasedAt(at) }, isNew: true };
  }
  const { amount, basis, usage } = ending;
  await query(SETTLE, [
    basis,
    amount,
    at,
    usage.seconds ?? null,
    usage.inputTokens ?? null,
    usage.outputTokens ?? null,
    taskId,
  ]);
  await post(query, settleEvent(hold, amount, at));
  await countUsage(
    query,
    [
      {
        accountId: hold.accountId,
        tokenId: hold.tokenId,
        priceKey: hold.facts.priceKey,
        quantities: quantitiesOf(amount, hold.facts, usage),
      },
    ],
    at,
  );
  await changeBoth(query, hold, { balance: -amount, held: -hold.amount });
  return { record: { state: 'ended', hold, settlement: { amount, basis, at } }, isNew: true };
}

/** Keeps the time of the first deferral: since then the hold has waited for an operator. */
async function defer(
  query: SqlQuery,
  { hold, deferral }: OpenHold,
  amount: Nanos | undefined,
  at: number,
): Promise<Outcome> {
  const first = deferralAt(deferral?.at ?? at, amount);
  await query(DEFER, [amount ?? null, first.at, hold.taskId]);
  return { record: { state: 'open', hold, deferral: first }, isNew: deferral === undefined };
}

/** The locked hold is open, so its last event cannot exist yet. */
async function post(query: SqlQuery, event: FinancialEvent): Promise<void> {
  if (!(await recordEvent(query, event))) throw new Error(`${event.key} is taken, but its hold is open`);
}

async function lock(query: SqlQuery, taskId: string): Promise<HoldRecord | undefined> {
  const [row] = await query<HoldRow>(LOCK, [taskId]);
  return row === undefined ? findVoid(query, taskId) : toHoldRecord(row);
}

async function find(query: SqlQuery, taskId: string): Promise<HoldRecord | undefined> {
  const [row] = await query<HoldRow>(FIND, [taskId]);
  return row === undefined ? findVoid(query, taskId) : toHoldRecord(row);
}

async function findVoid(query: SqlQuery, taskId: string): Promise<HoldRecord | undefined> {
  const [row] = await query<{ occurred_at: Whole }>(FIND_VOID, [holdKey(taskId)]);
  return row && { state: 'void', settlement: releasedAt(Number(row.occurred_at)) };
}
