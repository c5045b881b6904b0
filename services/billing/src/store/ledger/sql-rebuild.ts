import type { Sql, SqlQuery } from '@reelgate/platform/sql/sql';
import { COUNT_MAX, HOUR_MS } from '../../domain/usage.ts';
import { COUNT_COLUMNS, HOUR_KEYS, LABEL_KEYS, PART_COLUMNS } from '../usage/sql-usage-hours.ts';
import type { RebuildResult } from './ledger-audit.ts';

const HOUR = `ended_at / ${HOUR_MS} * ${HOUR_MS} AS hour`;
/** A count of one request, bounded like in `computeQuantities`. */
const clampCountSql = (count: string): string =>
  `CASE WHEN ${count} > ${COUNT_MAX} THEN ${COUNT_MAX} WHEN ${count} > 0 THEN ${count} ELSE 0 END`;
const MEASURED = '(COALESCE(used_input_tokens, 0) > 0 OR COALESCE(used_output_tokens, 0) > 0)';
const tokens = (side: 'input' | 'output'): string =>
  `CASE WHEN ${MEASURED} THEN ${clampCountSql(`used_${side}_tokens`)} ELSE ${clampCountSql(`${side}_tokens`)} END`;
const seconds = (frozen: string): string =>
  `CASE WHEN used_seconds > 0 THEN ${clampCountSql('used_seconds')} WHEN ${MEASURED} THEN 0 ELSE ${clampCountSql(frozen)} END`;
/** A task has no parts. */
const NO_PARTS = Object.values(PART_COLUMNS)
  .map((column) => `0 AS ${column}`)
  .join(', ');
/** The counts of parts are texts in a JSON object, which the engines read in two ways. */
function listParts(engine: Sql['engine']): string {
  const json = engine === 'postgres' ? 'used_parts::json' : 'used_parts';
  return Object.keys(PART_COLUMNS)
    .map((name) => clampCountSql(`CAST(COALESCE(${json} ->> '${name}', '0') AS BIGINT)`))
    .join(', ');
}
/** The same rules as `computeQuantities`, in SQL. The tests compare the two. */
const buildCharged = (
  engine: Sql['engine'],
): string => `SELECT account_id, ${HOUR}, label, token_id, price_key, 1 AS requests, charged_nanos,
    ${seconds('seconds + input_video_seconds')} AS seconds,
    ${tokens('input')} AS input_tokens, 0 AS cached_input_tokens, ${tokens('output')} AS output_tokens,
    ${clampCountSql('images')} AS images, ${clampCountSql('characters')} AS characters, ${NO_PARTS}
  FROM holds WHERE state = 'settled'
  UNION ALL SELECT account_id, ${HOUR}, label, token_id, price_key, 1, charged_nanos, ${seconds('seconds')},
    ${tokens('input')}, ${clampCountSql('COALESCE(used_cached_input_tokens, 0)')}, ${tokens('output')},
    ${clampCountSql('COALESCE(used_images, images)')}, ${clampCountSql('COALESCE(used_characters, characters)')},
    ${listParts(engine)}
  FROM calls WHERE ended_at IS NOT NULL AND basis <> 'released'`;
const joinColumns = (text: (column: string) => string, separator = ', '): string =>
  COUNT_COLUMNS.map(text).join(separator);

interface HourTable {
  readonly name: string;
  readonly keys: readonly string[];
  /** The charges that it has. */
  readonly where: string;
}

const USAGE_HOURS: HourTable = { name: 'usage_hours', keys: HOUR_KEYS, where: 'true' };
const LABEL_HOURS: HourTable = { name: 'label_hours', keys: LABEL_KEYS, where: "label <> ''" };

function buildRemoval({ name, keys, where }: HourTable, charged: string): string {
  const columns = keys.join(', ');
  return `DELETE FROM ${name}
    WHERE (${columns}) NOT IN (SELECT ${columns} FROM (${charged}) AS charged WHERE ${where}) RETURNING account_id`;
}

function buildWrite({ name, keys, where }: HourTable, charged: string): string {
  const columns = keys.join(', ');
  return `INSERT INTO ${name} (${columns}, ${COUNT_COLUMNS.join(', ')})
    SELECT ${columns}, ${joinColumns((column) => `CAST(SUM(${column}) AS BIGINT)`)}
    FROM (${charged}) AS charged WHERE ${where} GROUP BY ${columns}
    ON CONFLICT (${columns}) DO UPDATE SET ${joinColumns((column) => `${column} = excluded.${column}`)}
    WHERE ${joinColumns((column) => `${name}.${column} <> excluded.${column}`, ' OR ')} RETURNING account_id`;
}

const HOUR_TABLES = [USAGE_HOURS, LABEL_HOURS];

const TOKEN_IDS = 'SELECT id FROM tokens';
const LOCK_TOKEN = 'UPDATE tokens SET used_nanos = used_nanos WHERE id = $1';
const ACCOUNT_IDS = 'SELECT id FROM accounts';
const LOCK_ACCOUNT = 'UPDATE accounts SET held_nanos = held_nanos WHERE id = $1';

const MEND_TOKENS = `UPDATE tokens SET used_nanos = s.nanos FROM (
    SELECT t.id AS subject, CAST(COALESCE(h.nanos, 0) + COALESCE(c.nanos, 0) AS BIGINT) AS nanos FROM tokens t
    LEFT JOIN (SELECT token_id,
      SUM(CASE WHEN state = 'open' THEN amount_nanos ELSE COALESCE(charged_nanos, 0) END) AS nanos
      FROM holds GROUP BY token_id) h ON h.token_id = t.id
    LEFT JOIN (SELECT token_id, SUM(CASE WHEN ended_at IS NULL THEN amount_nanos ELSE charged_nanos END) AS nanos
      FROM calls GROUP BY token_id) c ON c.token_id = t.id) AS s
  WHERE tokens.id = s.subject AND tokens.used_nanos <> s.nanos RETURNING id`;
const MEND_ACCOUNTS = `UPDATE accounts SET held_nanos = s.held, balance_nanos = s.balance FROM (
    SELECT a.id AS subject, CAST(COALESCE(h.nanos, 0) AS BIGINT) AS held,
      CAST(COALESCE(h.nanos, 0) + COALESCE(v.nanos, 0) AS BIGINT) AS balance FROM accounts a
    LEFT JOIN (SELECT book, SUM(amount_nanos) AS nanos FROM ledger_lines WHERE book LIKE 'available:%' GROUP BY book) v
      ON v.book = 'available:' || a.id
    LEFT JOIN (SELECT book, SUM(amount_nanos) AS nanos FROM ledger_lines WHERE book LIKE 'held:%' GROUP BY book) h
      ON h.book = 'held:' || a.id) AS s
  WHERE accounts.id = s.subject AND (accounts.held_nanos <> s.held OR accounts.balance_nanos <> s.balance)
  RETURNING id`;

/**
 * Locks every row of tokens and accounts before it sums them, in the order that all transactions use. A transaction
 * that has posted lines and waits for such a row has not committed. So its lines are not in the sums, and it adds them
 * to the row afterwards.
 */
export async function rebuild(query: SqlQuery, engine: Sql['engine']): Promise<RebuildResult> {
  const used = await rebuildUsage(query, engine);
  for (const id of await readSortedIds(query, TOKEN_IDS)) await query(LOCK_TOKEN, [id]);
  for (const id of await readSortedIds(query, ACCOUNT_IDS)) await query(LOCK_ACCOUNT, [id]);
  const tokens = await query<{ id: string }>(MEND_TOKENS);
  const accounts = await query<{ id: string }>(MEND_ACCOUNTS);
  return {
    accountIds: [...new Set([...used, ...accounts.map(({ id }) => id)])].sort(),
    tokenIds: tokens.map(({ id }) => id),
  };
}

/** Sorted by code unit, like in the batches: a database can sort by the rules of a language. */
async function readSortedIds(query: SqlQuery, text: string): Promise<string[]> {
  return (await query<{ id: string }>(text)).map(({ id }) => id).sort();
}

/**
 * Computes every hour again from the charged holds and calls. Returns the accounts that had wrong hours. Settlements
 * wait meanwhile. Each counts its hour before it changes tokens and accounts, so it waits here and nowhere else.
 */
async function rebuildUsage(query: SqlQuery, engine: Sql['engine']): Promise<readonly string[]> {
  if (engine === 'postgres')
    for (const { name } of HOUR_TABLES) await query(`LOCK TABLE ${name} IN SHARE ROW EXCLUSIVE MODE`);
  const charged = buildCharged(engine);
  const changed: string[] = [];
  for (const text of HOUR_TABLES.flatMap((table) => [buildRemoval(table, charged), buildWrite(table, charged)]))
    changed.push(...(await query<{ account_id: string }>(text)).map((row) => row.account_id));
  return changed;
}
