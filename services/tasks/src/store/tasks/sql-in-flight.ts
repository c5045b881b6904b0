import type { SqlRow, SqlValue, SqlWork } from '@reelgate/platform/sql/sql';
import { scopeOfRow } from './counter-shards.ts';
import type { Permit } from './counter-shards.ts';
import { text } from '../columns.ts';

/** The columns that say where a task is counted: its counters, and their shards that count it. */
export const COUNTED_COLUMNS = 'in_flight_json, shards_json';

export interface CountedRow extends SqlRow {
  readonly in_flight_json: SqlValue;
  readonly shards_json: SqlValue;
}

/** The counted columns of a task or a job that takes these permits. */
export function toCountedRow(permits: readonly Permit[]): CountedRow {
  const shards = permits.flatMap(({ row, scope }) => (row === scope ? [] : [row]));
  return {
    in_flight_json: JSON.stringify(permits.map(({ scope }) => scope)),
    shards_json: shards.length === 0 ? null : JSON.stringify(shards),
  };
}

/** The rows that count the scopes. A list of rows grows with each attempt, so the last one of a counter counts. */
export function findCounterRows(scopes: readonly string[], shardsJson: SqlValue | undefined): readonly string[] {
  const shards = parseList(shardsJson);
  return scopes.map((scope) => shards.findLast((row) => scopeOfRow(row) === scope) ?? scope);
}

/** Counts one less in each row, at the end of the transaction, because others wait for these rows. */
export function countDown(query: SqlWork, rows: readonly string[]): void {
  if (rows.length === 0) return;
  query.atEnd([
    `INSERT INTO in_flight (scope, count) VALUES ${rows.map((_row, index) => `($${index + 1}, 0)`).join(', ')}
     ON CONFLICT (scope) DO UPDATE SET count = in_flight.count - 1 WHERE in_flight.count > 0`,
    rows,
  ]);
}

/** Takes a task out of all its counters, once. The transaction has locked the row of the task. */
export function leaveCounters(query: SqlWork, taskId: string, row: CountedRow): void {
  const scopes = parseList(row.in_flight_json);
  if (scopes.length === 0) return;
  query.atEnd(["UPDATE tasks SET in_flight_json = '[]' WHERE id = $1", [taskId]]);
  countDown(query, findCounterRows(scopes, row.shards_json));
}

/** Takes a task out of some of its counters, as far as it is in them. */
export function leaveSome(query: SqlWork, taskId: string, row: CountedRow, scopes: readonly string[]): void {
  const counted = parseList(row.in_flight_json);
  const left = counted.filter((scope) => scopes.includes(scope));
  if (left.length === 0) return;
  const rest = JSON.stringify(counted.filter((scope) => !scopes.includes(scope)));
  query.atEnd(['UPDATE tasks SET in_flight_json = $1 WHERE id = $2', [rest, taskId]]);
  countDown(query, findCounterRows(left, row.shards_json));
}

/** An SQL expression that adds names to a list. The parameter holds them as JSON, with commas between them. */
export function buildListAppend(column: string, parameter: string): string {
  return `CASE WHEN COALESCE(${column}, '[]') = '[]' THEN '['
    ELSE substr(${column}, 1, length(${column}) - 1) || ',' END || CAST(${parameter} AS TEXT) || ']'`;
}

/** The scopes or rows of a column. */
export function parseList(json: SqlValue | undefined): readonly string[] {
  return json === null || json === undefined ? [] : (JSON.parse(text(json)) as string[]);
}
