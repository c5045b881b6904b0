import { byRows, inChunks, parameters } from '@reelgate/platform/sql/multi-row';
import type { SqlQuery } from '@reelgate/platform/sql/sql';
import type { ChargeBasis } from '../../domain/hold.ts';
import { findCalls } from '../calls/sql-find-calls.ts';
import type { Charge } from './hold-store.ts';

type Whole = number | bigint;
type ChargeRow = {
  task_id: string;
  account_id: string;
  amount_nanos: Whole;
  currency: string;
  state: 'open' | 'settled' | 'released';
  basis: ChargeBasis | null;
  charged_nanos: Whole | null;
  deferred_at: Whole | null;
  deferred_nanos: Whole | null;
};

const COLUMNS = 'task_id, account_id, amount_nanos, currency, state, basis, charged_nanos, deferred_at, deferred_nanos';
const OF_TASKS = byRows((rows) => `SELECT ${COLUMNS} FROM holds WHERE task_id IN (${parameters(rows)})`);
const OF_TASKS_OF_ACCOUNT = byRows(
  (rows) => `SELECT ${COLUMNS} FROM holds WHERE account_id = $1 AND task_id IN (${parameters(rows, 2)})`,
);

/** The charges of the tasks and jobs that have a hold; only those of the account, if there is one. */
export async function readCharges(
  query: SqlQuery,
  taskIds: readonly string[],
  accountId: string | undefined,
): Promise<Charge[]> {
  const charges: Charge[] = [];
  for (const chunk of inChunks(taskIds)) {
    const rows = await (accountId === undefined
      ? query<ChargeRow>(OF_TASKS(chunk.length), chunk)
      : query<ChargeRow>(OF_TASKS_OF_ACCOUNT(chunk.length), [accountId, ...chunk]));
    charges.push(...rows.map(fromRow));
  }
  const known = new Set(charges.map(({ taskId }) => taskId));
  const others = taskIds.filter((id) => !known.has(id));
  return others.length === 0 ? charges : [...charges, ...(await readCallCharges(query, others, accountId))];
}

/** The hold of a job is that of its call, which has the id of the job. */
async function readCallCharges(
  query: SqlQuery,
  ids: readonly string[],
  accountId: string | undefined,
): Promise<Charge[]> {
  return [...(await findCalls(query, ids)).values()]
    .filter(({ call }) => accountId === undefined || call.accountId === accountId)
    .map(({ call: { id, accountId: owner, amount, currency }, settlement }) => ({
      taskId: id,
      accountId: owner,
      held: amount,
      currency,
      end: settlement,
    }));
}

function fromRow(row: ChargeRow): Charge {
  return {
    taskId: row.task_id,
    accountId: row.account_id,
    held: BigInt(row.amount_nanos),
    currency: row.currency,
    end: toChargeEnd(row),
    ...(row.state === 'open' && row.deferred_nanos !== null ? { wanted: BigInt(row.deferred_nanos) } : {}),
  };
}

function toChargeEnd({ state, basis, charged_nanos: charged, deferred_at: deferredAt }: ChargeRow): Charge['end'] {
  if (state === 'released') return { amount: 0n, basis: 'released' };
  if (state === 'open' && deferredAt !== null) return { amount: 0n, basis: 'deferred' };
  return state === 'settled' && basis !== null ? { amount: BigInt(charged ?? 0), basis } : undefined;
}
