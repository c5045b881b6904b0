import type { SqlQuery } from '@reelgate/platform/sql/sql';
import type { ChargeBasis } from '../../domain/hold.ts';
import type { ChargedItem, ItemQuery } from './charged-items.ts';
import { ENDED_CALL_COLUMNS, ENDED_HOLD_COLUMNS, toQuantities } from './ended-rows.ts';
import type { EndedRow } from './ended-rows.ts';

type ItemRow = EndedRow & { id: string; basis: ChargeBasis };

const selectItems = (id: string): string => `ended_at >= $2 AND ended_at < $4 AND (ended_at > $2 OR ${id} > $3)
  ORDER BY ended_at, ${id} LIMIT $5`;
const HOLDS = `SELECT task_id AS id, basis, ${ENDED_HOLD_COLUMNS} FROM holds
  WHERE account_id = $1 AND state = 'settled' AND ${selectItems('task_id')}`;
const CALLS = `SELECT id, basis, ${ENDED_CALL_COLUMNS} FROM calls
  WHERE account_id = $1 AND ended_at IS NOT NULL AND basis <> 'released' AND ${selectItems('id')}`;

/** Both tables are read from the same place, so the first items of the two are the page. */
export async function listChargedItems(
  query: SqlQuery,
  { accountId, after, to, limit }: ItemQuery,
): Promise<readonly ChargedItem[]> {
  const values = [accountId, after.at, after.id, to, limit];
  const rows = [...(await query<ItemRow>(HOLDS, values)), ...(await query<ItemRow>(CALLS, values))];
  return rows.map(toChargedItem).sort(comparePlaces).slice(0, limit);
}

function toChargedItem(row: ItemRow): ChargedItem {
  return {
    id: row.id,
    at: Number(row.ended_at),
    tokenId: row.token_id,
    priceKey: row.price_key,
    basis: row.basis,
    sum: toQuantities(row),
  };
}

function comparePlaces(left: ChargedItem, right: ChargedItem): number {
  if (left.at !== right.at) return left.at - right.at;
  return left.id < right.id ? -1 : 1;
}
