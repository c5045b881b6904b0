import type { Sql } from '@reelgate/platform/sql/sql';
import type { ReadHeldMoney } from './held-money.ts';

const NANOS_PER_UNIT = 1_000_000_000;
// Whole units and the rest are summed separately, so that no sum leaves 64 bits.
const selectHeld = (open: string): string => `SELECT price_key, currency,
    CAST(SUM(amount_nanos / ${NANOS_PER_UNIT}) AS BIGINT) AS units,
    CAST(SUM(amount_nanos % ${NANOS_PER_UNIT}) AS BIGINT) AS rest
  FROM ${open} GROUP BY price_key, currency`;
const HOLDS = selectHeld("holds WHERE state = 'open'");
const CALLS = selectHeld('calls WHERE ended_at IS NULL');

export function sqlHeldMoney(sql: Sql): ReadHeldMoney {
  return async () => {
    const rows = [];
    for (const text of [HOLDS, CALLS]) rows.push(...(await sql.read(text)));
    return rows.map((row) => ({
      priceKey: String(row['price_key']),
      currency: String(row['currency']),
      units: Number(row['units']) + Number(row['rest']) / NANOS_PER_UNIT,
    }));
  };
}
