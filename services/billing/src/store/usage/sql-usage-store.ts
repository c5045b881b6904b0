import type { Sql, SqlInteger, SqlQuery } from '@reelgate/platform/sql/sql';
import type { ChargeBasis } from '../../domain/hold.ts';
import {
  DAY_MS,
  HOUR_MS,
  NOTHING_USED,
  addQuantities,
  floorToHour,
  keepParts,
  readQuantities,
  subtractQuantities,
} from '../../domain/usage.ts';
import type { Quantities, UsageGroup } from '../../domain/usage.ts';
import { ENDED_CALL_COLUMNS, ENDED_HOLD_COLUMNS, toQuantities, parseParts } from './quantity-rows.ts';
import type { EndedRow } from './quantity-rows.ts';
import type { ChargedItem, ItemQuery, Period, UsageQuery, UsageStore, UsageSum } from './usage-store.ts';
import { COUNT_COLUMNS, PART_COLUMNS, QUANTITY_COLUMNS } from './sql-usage-hours.ts';

type QuantityRow = Record<(typeof COUNT_COLUMNS)[number], SqlInteger>;
type HourRow = QuantityRow & { name: string | SqlInteger; split: string | SqlInteger };
/** By their group and split. */
type Sums = Map<string, UsageSum>;

/** The most settlements of a partial hour, which are counted row by row. */
const ROWS_MAX = 20_000;

const GROUPS: Readonly<Record<UsageGroup, { readonly column: string; nameOf(row: EndedRow): string }>> = {
  model: { column: 'price_key', nameOf: (row) => row.price_key },
  token: { column: 'token_id', nameOf: (row) => row.token_id },
  label: { column: 'label', nameOf: (row) => row.label },
  day: {
    column: `hour / ${DAY_MS} * ${DAY_MS}`,
    nameOf: ({ ended_at: at }) => String(Number(at) - (Number(at) % DAY_MS)),
  },
};
const SUMS = COUNT_COLUMNS.map((column) => `CAST(SUM(${column}) AS BIGINT) AS ${column}`).join(', ');
const sumsBy = (group: string, split: string): string => `SELECT ${group} AS name, ${split} AS split, ${SUMS}
  FROM usage_hours WHERE account_id = $1 AND hour >= $2 AND hour < $3 GROUP BY 1, 2`;
/** Reads labelled work and the whole that contains it in one statement, so that both have the same moment. */
const sumsByLabel = (group: string): string => `SELECT ${group} AS name, label AS split, ${SUMS}
  FROM label_hours WHERE account_id = $1 AND hour >= $2 AND hour < $3 GROUP BY 1, 2
  UNION ALL ${sumsBy(group, "''")}`;
const NO_LABEL = '';
const LAST_HOURS =
  'SELECT token_id, MAX(hour) AS hour FROM usage_hours WHERE account_id = $1 AND hour >= $2 GROUP BY token_id';
const ENDED_HOLDS = `SELECT ${ENDED_HOLD_COLUMNS}
  FROM holds WHERE account_id = $1 AND state = 'settled' AND ended_at >= $2 AND ended_at < $3 LIMIT $4`;
const ENDED_CALLS = `SELECT ${ENDED_CALL_COLUMNS}
  FROM calls WHERE account_id = $1 AND ended_at IS NOT NULL AND ended_at >= $2 AND ended_at < $3
    AND basis <> 'released' LIMIT $4`;

type ItemRow = EndedRow & { id: string; basis: ChargeBasis };

const selectItems = (id: string): string => `ended_at >= $2 AND ended_at < $4 AND (ended_at > $2 OR ${id} > $3)
  ORDER BY ended_at, ${id} LIMIT $5`;
const HOLDS = `SELECT task_id AS id, basis, ${ENDED_HOLD_COLUMNS} FROM holds
  WHERE account_id = $1 AND state = 'settled' AND ${selectItems('task_id')}`;
const CALLS = `SELECT id, basis, ${ENDED_CALL_COLUMNS} FROM calls
  WHERE account_id = $1 AND ended_at IS NOT NULL AND basis <> 'released' AND ${selectItems('id')}`;

/** Whole hours come from their sums, the partial hours at both ends from rows. */
export function sqlUsageStore(sql: Sql): UsageStore {
  return {
    sums: async (asked, period) => {
      const sums: Sums = new Map();
      const { whole, parts } = split(period);
      for (const part of parts) {
        if (!(await addRows(sql.read, { ...asked, ...part }, sums))) return undefined;
      }
      if (whole !== undefined) await addHours(sql.read, { ...asked, ...whole }, sums);
      return [...sums.values()];
    },
    lastHours: async (accountId, since) => {
      const rows = await sql.read<{ token_id: string; hour: SqlInteger }>(LAST_HOURS, [accountId, since]);
      return new Map(rows.map((row) => [row.token_id, Number(row.hour)]));
    },
    items: (query) => listChargedItems(sql.read, query),
  };
}

type PeriodQuery = UsageQuery & Period;

function split({ from, to }: Period): { readonly whole: Period | undefined; readonly parts: readonly Period[] } {
  const [first, last] = [floorToHour(from + HOUR_MS - 1), floorToHour(to)];
  if (first > last) return { whole: undefined, parts: [{ from, to }] };
  const parts = [
    { from, to: first },
    { from: last, to },
  ].filter((part) => part.from < part.to);
  return { whole: first < last ? { from: first, to: last } : undefined, parts };
}

async function addHours(query: SqlQuery, asked: PeriodQuery, sums: Sums): Promise<void> {
  const { accountId, from, to, groupBy, splitBy } = asked;
  if (groupBy === 'label' || splitBy === 'label') return addLabelledHours(query, asked, sums);
  const text = sumsBy(GROUPS[groupBy].column, splitBy === undefined ? "''" : GROUPS[splitBy].column);
  for (const row of await query<HourRow>(text, [accountId, from, to])) {
    add(sums, [String(row.name), String(row.split)], readHour(row));
  }
}

/** The work without a label is the rest. */
async function addLabelledHours(
  query: SqlQuery,
  { accountId, from, to, groupBy, splitBy }: PeriodQuery,
  sums: Sums,
): Promise<void> {
  const other = splitBy === 'label' ? GROUPS[groupBy].column : "''";
  const rests = new Map<string, Quantities>();
  for (const row of await query<HourRow>(sumsByLabel(other), [accountId, from, to])) {
    const [name, label] = [String(row.name), String(row.split)];
    const [sum, rest = NOTHING_USED] = [readHour(row), rests.get(name)];
    rests.set(name, label === NO_LABEL ? addQuantities(rest, sum) : subtractQuantities(rest, sum));
    if (label !== NO_LABEL) add(sums, splitBy === 'label' ? [name, label] : [label, ''], sum);
  }
  for (const [name, rest] of rests)
    if (rest.requests > 0n) add(sums, splitBy === 'label' ? [name, NO_LABEL] : [NO_LABEL, ''], rest);
}

function readHour(row: QuantityRow): Quantities {
  return {
    ...readQuantities((name) => BigInt(row[QUANTITY_COLUMNS[name]])),
    ...keepParts((name) => BigInt(row[PART_COLUMNS[name]])),
  };
}

/** Returns false if there are too many rows. */
async function addRows(
  query: SqlQuery,
  { accountId, from, to, groupBy, splitBy }: PeriodQuery,
  sums: Sums,
): Promise<boolean> {
  for (const text of [ENDED_HOLDS, ENDED_CALLS]) {
    const rows = await query<EndedRow>(text, [accountId, from, to, ROWS_MAX + 1]);
    if (rows.length > ROWS_MAX) return false;
    for (const row of rows) {
      const split = splitBy === undefined ? '' : GROUPS[splitBy].nameOf(row);
      add(sums, [GROUPS[groupBy].nameOf(row), split], toQuantities(row));
    }
  }
  return true;
}

function add(sums: Sums, [group, split]: readonly [string, string], more: Quantities): void {
  const name = `${group} ${split}`;
  sums.set(name, { group, split, sum: addQuantities(sums.get(name)?.sum ?? NOTHING_USED, more) });
}

/** Both tables are read from the same place, so the first items of the two are the page. */
async function listChargedItems(
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
    label: row.label,
    basis: row.basis,
    sum: toQuantities(row),
    ...parseParts(row.used_parts),
  };
}

function comparePlaces(left: ChargedItem, right: ChargedItem): number {
  if (left.at !== right.at) return left.at - right.at;
  return left.id < right.id ? -1 : 1;
}
