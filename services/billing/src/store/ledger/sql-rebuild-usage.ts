import type { Sql, SqlQuery } from '@reelgate/platform/sql/sql';
import { COUNT_MAX, HOUR_MS } from '../../domain/usage.ts';
import { QUANTITY_COLUMNS } from '../usage/sql-usage-hours.ts';

const KEY_COLUMNS = 'account_id, hour, token_id, price_key';
const HOUR = `ended_at / ${HOUR_MS} * ${HOUR_MS} AS hour`;
/** A count of one request, bounded like in `computeQuantities`. */
const clampCountSql = (count: string): string =>
  `CASE WHEN ${count} > ${COUNT_MAX} THEN ${COUNT_MAX} WHEN ${count} > 0 THEN ${count} ELSE 0 END`;
const MEASURED = '(COALESCE(used_input_tokens, 0) > 0 OR COALESCE(used_output_tokens, 0) > 0)';
const tokens = (side: 'input' | 'output'): string =>
  `CASE WHEN ${MEASURED} THEN ${clampCountSql(`used_${side}_tokens`)} ELSE ${clampCountSql(`${side}_tokens`)} END`;
const seconds = (frozen: string): string =>
  `CASE WHEN used_seconds > 0 THEN ${clampCountSql('used_seconds')} WHEN ${MEASURED} THEN 0 ELSE ${clampCountSql(frozen)} END`;

/** The same rules as `computeQuantities`, in SQL. The tests compare the two. */
const CHARGED = `SELECT account_id, ${HOUR}, token_id, price_key, 1 AS requests, charged_nanos,
    ${seconds('seconds + input_video_seconds')} AS seconds,
    ${tokens('input')} AS input_tokens, 0 AS cached_input_tokens, ${tokens('output')} AS output_tokens,
    ${clampCountSql('images')} AS images, ${clampCountSql('characters')} AS characters
  FROM holds WHERE state = 'settled'
  UNION ALL SELECT account_id, ${HOUR}, token_id, price_key, 1, charged_nanos, ${seconds('seconds')},
    ${tokens('input')}, ${clampCountSql('COALESCE(used_cached_input_tokens, 0)')}, ${tokens('output')},
    ${clampCountSql('COALESCE(used_images, images)')}, ${clampCountSql('COALESCE(used_characters, characters)')}
  FROM calls WHERE ended_at IS NOT NULL AND basis <> 'released'`;
const REMOVE = `DELETE FROM usage_hours
  WHERE (${KEY_COLUMNS}) NOT IN (SELECT ${KEY_COLUMNS} FROM (${CHARGED}) AS charged) RETURNING account_id`;
const joinColumns = (text: (column: string) => string, separator = ', '): string =>
  QUANTITY_COLUMNS.map(text).join(separator);
const WRITE = `INSERT INTO usage_hours (${KEY_COLUMNS}, ${QUANTITY_COLUMNS.join(', ')})
  SELECT ${KEY_COLUMNS}, ${joinColumns((column) => `CAST(SUM(${column}) AS BIGINT)`)}
  FROM (${CHARGED}) AS charged WHERE true GROUP BY ${KEY_COLUMNS}
  ON CONFLICT (${KEY_COLUMNS}) DO UPDATE SET ${joinColumns((column) => `${column} = excluded.${column}`)}
  WHERE ${joinColumns((column) => `usage_hours.${column} <> excluded.${column}`, ' OR ')} RETURNING account_id`;

/**
 * Computes every hour again from the charged holds and calls. Gives the accounts whose hours were wrong. Settlements
 * wait meanwhile. Each counts its hour before it changes tokens and accounts, so it waits here and nowhere else.
 */
export async function rebuildUsage(query: SqlQuery, engine: Sql['engine']): Promise<readonly string[]> {
  if (engine === 'postgres') await query('LOCK TABLE usage_hours IN SHARE ROW EXCLUSIVE MODE');
  const removed = await query<{ account_id: string }>(REMOVE);
  const written = await query<{ account_id: string }>(WRITE);
  return [...removed, ...written].map((row) => row.account_id);
}
