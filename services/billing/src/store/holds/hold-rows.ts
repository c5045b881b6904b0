import { byRows, inChunks, parameters, rowValues, valueRows } from '@reelgate/platform/sql/multi-row';
import { listValues } from '@reelgate/platform/sql/named-values';
import type { Sql, SqlInteger, SqlQuery, SqlStatement, SqlValue } from '@reelgate/platform/sql/sql';
import type { ChargeBasis, Deferral, Hold, HoldRecord, Settlement } from '../../domain/hold.ts';
import type { Nanos } from '../../domain/money.ts';
import { holdKey } from '../../domain/ledger.ts';
import { toPriceFacts } from '../usage/quantity-rows.ts';
import type { FactsRow } from '../usage/quantity-rows.ts';

export type HoldRow = FactsRow & {
  task_id: string;
  account_id: string;
  token_id: string;
  amount_nanos: SqlInteger;
  currency: string;
  max_amount_nanos: SqlInteger | null;
  label: string;
  price_version: number;
  placed_at: SqlInteger;
  state: 'open' | 'settled' | 'released';
  basis: ChargeBasis | null;
  charged_nanos: SqlInteger | null;
  ended_at: SqlInteger | null;
  deferred_at: SqlInteger | null;
  deferred_nanos: SqlInteger | null;
  reported_cost_micro_usd: SqlInteger | null;
  estimated_cost_nanos: SqlInteger | null;
};

/** The columns that an end does not change, by the names of a hold and of its facts. */
const FROZEN = {
  taskId: 'task_id',
  accountId: 'account_id',
  tokenId: 'token_id',
  amount: 'amount_nanos',
  currency: 'currency',
  priceKey: 'price_key',
  priceVersion: 'price_version',
  resolution: 'resolution',
  seconds: 'seconds',
  inputVideoSeconds: 'input_video_seconds',
  images: 'images',
  inputTokens: 'input_tokens',
  outputTokens: 'output_tokens',
  characters: 'characters',
  placedAt: 'placed_at',
  maxAmount: 'max_amount_nanos',
  label: 'label',
} as const;
const FROZEN_NAMES = Object.keys(FROZEN) as readonly (keyof typeof FROZEN)[];
const FROZEN_COLUMNS = Object.values(FROZEN);

const HOLD_COLUMNS = [
  ...FROZEN_COLUMNS,
  'state',
  'basis',
  'charged_nanos',
  'ended_at',
  'deferred_at',
  'deferred_nanos',
  'reported_cost_micro_usd',
  'estimated_cost_nanos',
].join(', ');
/** By the number of holds. A repeated row is written once. */
const INSERT_HOLDS = byRows(
  (rows) => `INSERT INTO holds (${FROZEN_COLUMNS.join(', ')}, state)
  VALUES ${valueRows(rows, FROZEN_COLUMNS.length, { rest: ", 'open'" })} ON CONFLICT (task_id) DO NOTHING`,
);

/** The statement that places the holds of a chunk of `inChunks`. */
export function insertHolds(holds: readonly Hold[]): SqlStatement {
  const list = ({ facts, maxAmount, label = '', ...hold }: Hold): SqlValue[] =>
    listValues(FROZEN_NAMES, { ...facts, ...hold, maxAmount: maxAmount ?? null, label });
  return [INSERT_HOLDS(holds.length), rowValues([], holds, list)];
}

function fromHoldRow(row: HoldRow): Hold {
  return {
    taskId: row.task_id,
    accountId: row.account_id,
    tokenId: row.token_id,
    amount: BigInt(row.amount_nanos),
    currency: row.currency,
    maxAmount: toOptionalBigInt(row.max_amount_nanos),
    label: row.label || undefined,
    priceVersion: row.price_version,
    placedAt: Number(row.placed_at),
    facts: toPriceFacts(row),
  };
}

function toHoldRecord(row: HoldRow): HoldRecord {
  const hold = fromHoldRow(row);
  if (row.state === 'open') {
    return {
      state: 'open',
      hold,
      deferral:
        row.deferred_at === null
          ? undefined
          : newDeferral(Number(row.deferred_at), row.deferred_nanos === null ? undefined : BigInt(row.deferred_nanos)),
    };
  }
  const at = Number(row.ended_at);
  const settlement: Settlement =
    row.basis === null ? newRelease(at) : { amount: BigInt(row.charged_nanos ?? 0), basis: row.basis, at };
  const cost = {
    reportedMicroUsd: toOptionalBigInt(row.reported_cost_micro_usd),
    estimated: toOptionalBigInt(row.estimated_cost_nanos),
  };
  return { state: 'ended', hold, settlement, cost };
}

function toOptionalBigInt(value: SqlInteger | null): bigint | undefined {
  return value === null ? undefined : BigInt(value);
}

export function newRelease(at: number): Settlement {
  return { amount: 0n, basis: 'released', at };
}

export function newDeferral(at: number, wanted: Nanos | undefined): Deferral {
  return { amount: 0n, basis: 'deferred', at, wanted };
}

const FIND = `SELECT ${HOLD_COLUMNS} FROM holds WHERE task_id = $1`;
const FIND_VOID = "SELECT occurred_at FROM financial_events WHERE event_key = $1 AND kind = 'void'";

/** The record of a task: its hold, or a void. */
export async function findHold(query: SqlQuery, taskId: string): Promise<HoldRecord | undefined> {
  const [row] = await query<HoldRow>(FIND, [taskId]);
  return row === undefined ? findVoid(query, taskId) : toHoldRecord(row);
}

/** The holds of the tasks that have one, locked until the commit. */
export type LockHolds = (query: SqlQuery, taskIds: readonly string[]) => Promise<Map<string, HoldRecord>>;

/** Locks in the order of the tasks, so that two batches never deadlock. */
export function newHoldLock({ forUpdate }: Sql): LockHolds {
  const lock = byRows(
    (rows) => `SELECT ${HOLD_COLUMNS} FROM holds WHERE task_id IN (${parameters(rows)}) ORDER BY task_id ${forUpdate}`,
  );
  return async (query, taskIds) => {
    const records = new Map<string, HoldRecord>();
    for (const chunk of inChunks([...new Set(taskIds)].sort()))
      for (const row of await query<HoldRow>(lock(chunk.length), chunk)) records.set(row.task_id, toHoldRecord(row));
    return records;
  };
}

/** The void of a task that has no hold and can have no hold. */
export async function findVoid(query: SqlQuery, taskId: string): Promise<HoldRecord | undefined> {
  const [row] = await query<{ occurred_at: SqlInteger }>(FIND_VOID, [holdKey(taskId)]);
  return row && { state: 'void', settlement: newRelease(Number(row.occurred_at)) };
}
