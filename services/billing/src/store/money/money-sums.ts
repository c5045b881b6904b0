import type { SqlRow } from '@reelgate/platform/sql/sql';

const NANOS_PER_UNIT = 1_000_000_000n;

/** Sums an amount as whole units and the rest, so that no sum leaves 64 bits. */
export function sumMoney(column: string, amount = column): string {
  return `CAST(SUM((${amount}) / ${NANOS_PER_UNIT}) AS BIGINT) AS ${column}_units,
    CAST(SUM((${amount}) % ${NANOS_PER_UNIT}) AS BIGINT) AS ${column}_rest`;
}

export function sumCount(column: string, count = column): string {
  return `CAST(SUM(${count}) AS BIGINT) AS ${column}`;
}

/** Reads an amount that `sumMoney` summed under this name. */
export function readMoney(row: SqlRow, column: string): bigint {
  return readCount(row, `${column}_units`) * NANOS_PER_UNIT + readCount(row, `${column}_rest`);
}

export function readCount(row: SqlRow, column: string): bigint {
  return BigInt(row[column] ?? 0);
}
