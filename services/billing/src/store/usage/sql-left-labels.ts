import type { Sql, SqlWork } from '@reelgate/platform/sql/sql';
import { floorToHour } from '../../domain/usage.ts';
import { ENDED_CALL_COLUMNS, ENDED_HOLD_COLUMNS, toQuantities } from './ended-rows.ts';
import type { EndedRow } from './ended-rows.ts';
import { buildLabelCounts } from './sql-usage-hours.ts';

type LeftRow = EndedRow & { id: string; account_id: string };

// The conditions are those of the indexes, which are empty unless a process of the release before has settled labelled work.
const HOLDS = {
  left: "state = 'settled' AND counted_label <> label",
  select: `SELECT task_id AS id, account_id, ${ENDED_HOLD_COLUMNS} FROM holds`,
  order: 'ended_at, task_id',
  mark: 'UPDATE holds SET counted_label = label WHERE task_id = $1',
};
const CALLS = {
  left: "ended_at IS NOT NULL AND basis <> 'released' AND counted_label <> label",
  select: `SELECT id, account_id, ${ENDED_CALL_COLUMNS} FROM calls`,
  order: 'ended_at, id',
  mark: 'UPDATE calls SET counted_label = label WHERE id = $1',
};

/** Most passes find nothing, and begin no transaction. */
export async function countLeftLabels(sql: Sql, limit: number): Promise<number> {
  let count = 0;
  for (const table of [HOLDS, CALLS]) {
    const [first] = await sql.read(`${table.select} WHERE ${table.left} ORDER BY ${table.order} LIMIT 1`);
    if (first !== undefined) count += await sql.transaction((query) => countLeft(query, sql, table, limit));
  }
  return count;
}

/** Another process that counts the same rows waits for their locks, and then finds them counted. */
async function countLeft(query: SqlWork, { forUpdate }: Sql, table: typeof HOLDS, limit: number): Promise<number> {
  const { select, left, order, mark } = table;
  const rows = await query<LeftRow>(`${select} WHERE ${left} ORDER BY ${order} LIMIT $1 ${forUpdate}`, [limit]);
  for (const { id } of rows) await query(mark, [id]);
  const byHour = [...Map.groupBy(rows, ({ ended_at: at }) => floorToHour(Number(at)))].sort(([a], [b]) => a - b);
  query.atEnd(...byHour.flatMap(([hour, group]) => buildLabelCounts(group.map(toCharge), hour)));
  return rows.length;
}

function toCharge(row: LeftRow) {
  const { account_id: accountId, token_id: tokenId, price_key: priceKey, label } = row;
  return { accountId, tokenId, priceKey, label, quantities: toQuantities(row) };
}
