import type { SqlRow } from '@reelgate/platform/sql/sql';
import { collectMargin } from '../../domain/margin.ts';
import type { MarginCount } from '../../domain/margin.ts';

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

/** The columns of the counts of a margin. */
export const MARGIN_COLUMNS = {
  requests: 'requests',
  charged: 'charged_nanos',
  cost: 'cost_nanos',
  reportedRequests: 'reported_requests',
  reportedCharged: 'reported_charged_nanos',
  reportedCost: 'reported_cost_nanos',
  uncostedRequests: 'uncosted_requests',
  uncostedCharged: 'uncosted_charged_nanos',
} as const satisfies Readonly<Record<keyof MarginCount, string>>;
const isMoney = (column: string): boolean => column.endsWith('_nanos');

/** The sums of hours of money. */
export const PLACE_MARGINS = Object.values(MARGIN_COLUMNS)
  .map((column) => (isMoney(column) ? sumMoney(column) : sumCount(column)))
  .join(', ');

/** A rebuild can take requests from an hour, and leaves its costs. */
const less = (all: string, costed: string): string => `CASE WHEN ${all} > ${costed} THEN ${all} - ${costed} ELSE 0 END`;

/** The sums of hours of usage under the same names. The uncosted sums follow from the other sums. */
export const ACCOUNT_MARGINS = [
  sumCount('requests', 'u.costed_requests'),
  sumMoney('charged_nanos', 'u.costed_charged_nanos'),
  sumMoney('cost_nanos', 'u.cost_nanos'),
  sumCount('reported_requests', 'u.reported_requests'),
  sumMoney('reported_charged_nanos', 'u.reported_charged_nanos'),
  sumMoney('reported_cost_nanos', 'u.reported_cost_nanos'),
  sumCount('uncosted_requests', less('u.requests', 'u.costed_requests')),
  sumMoney('uncosted_charged_nanos', less('u.charged_nanos', 'u.costed_charged_nanos')),
].join(', ');

export function readMargin(row: SqlRow): MarginCount {
  return collectMargin((name) => {
    const column = MARGIN_COLUMNS[name];
    return isMoney(column) ? readMoney(row, column) : readCount(row, column);
  });
}
