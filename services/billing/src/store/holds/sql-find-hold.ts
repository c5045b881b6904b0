import type { SqlQuery } from '@reelgate/platform/sql/sql';
import type { HoldRecord } from '../../domain/hold.ts';
import { holdKey } from '../../domain/ledger.ts';
import { HOLD_COLUMNS, newRelease, toHoldRecord } from './hold-rows.ts';
import type { HoldRow } from './hold-rows.ts';

const FIND = `SELECT ${HOLD_COLUMNS} FROM holds WHERE task_id = $1`;
/** Changes nothing, but locks the row: a transaction that waits for it then reads what this one wrote. */
const LOCK = `UPDATE holds SET state = state WHERE task_id = $1 RETURNING ${HOLD_COLUMNS}`;
const FIND_VOID = "SELECT occurred_at FROM financial_events WHERE event_key = $1 AND kind = 'void'";

/** The record of a task: its hold, or a void. */
export async function findHold(query: SqlQuery, taskId: string): Promise<HoldRecord | undefined> {
  const [row] = await query<HoldRow>(FIND, [taskId]);
  return row === undefined ? findVoid(query, taskId) : toHoldRecord(row);
}

/** The same, with a lock on the hold. */
export async function lockHold(query: SqlQuery, taskId: string): Promise<HoldRecord | undefined> {
  const [row] = await query<HoldRow>(LOCK, [taskId]);
  return row === undefined ? findVoid(query, taskId) : toHoldRecord(row);
}

async function findVoid(query: SqlQuery, taskId: string): Promise<HoldRecord | undefined> {
  const [row] = await query<{ occurred_at: number | bigint }>(FIND_VOID, [holdKey(taskId)]);
  return row && { state: 'void', settlement: newRelease(Number(row.occurred_at)) };
}
