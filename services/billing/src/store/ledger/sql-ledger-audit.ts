import type { Sql, SqlInteger, SqlRow, SqlQuery } from '@reelgate/platform/sql/sql';
import type { Audit, Books, LedgerAudit, RebuildResult } from './ledger-audit.ts';
import { COUNT_MAX, HOUR_MS } from '../../domain/usage.ts';
import { COUNT_COLUMNS, HOUR_KEYS, LABEL_KEYS, PART_COLUMNS } from '../usage/sql-usage-hours.ts';

const FAULTS_MAX = 100;
const OPEN_HOLDS_MAX = 10_000;
/** The sweep settles a lapsed call within this time. */
const SWEEP_MS = 5 * 60_000;
const NANOS_PER_UNIT = 1_000_000_000n;

const ENTRIES = 'SELECT COUNT(*) AS entries FROM ledger_lines';
// Whole units and the rest are summed separately, so that no sum leaves 64 bits.
const SUMS = `SELECT currency, CAST(SUM(amount_nanos / ${NANOS_PER_UNIT}) AS BIGINT) AS units,
    CAST(SUM(amount_nanos % ${NANOS_PER_UNIT}) AS BIGINT) AS rest
  FROM ledger_lines GROUP BY currency ORDER BY currency`;
const OPEN_CALLS = `SELECT COUNT(*) AS open, COALESCE(SUM(CASE WHEN lapses_at <= $1 THEN 1 ELSE 0 END), 0) AS overdue
  FROM calls WHERE ended_at IS NULL`;
const OPEN_HOLDS = "SELECT task_id FROM holds WHERE state = 'open' ORDER BY placed_at, task_id LIMIT $1";

const LINES_OF_EVENTS = `SELECT e.event_key AS subject FROM financial_events e
  LEFT JOIN ledger_lines l ON l.event_key = e.event_key
  WHERE e.kind <> 'void' GROUP BY e.event_key
  HAVING COUNT(l.book) < 2 OR COUNT(DISTINCT l.currency) > 1
    OR SUM(l.amount_nanos / ${NANOS_PER_UNIT}) * ${NANOS_PER_UNIT} + SUM(l.amount_nanos % ${NANOS_PER_UNIT}) <> 0
  ORDER BY e.event_key LIMIT $1`;
const BALANCES = `SELECT a.id AS subject FROM accounts a
  LEFT JOIN (SELECT book, SUM(amount_nanos) AS nanos FROM ledger_lines WHERE book LIKE 'available:%' GROUP BY book) v
    ON v.book = 'available:' || a.id
  LEFT JOIN (SELECT book, SUM(amount_nanos) AS nanos FROM ledger_lines WHERE book LIKE 'held:%' GROUP BY book) h
    ON h.book = 'held:' || a.id
  WHERE a.held_nanos <> COALESCE(h.nanos, 0) OR a.balance_nanos - a.held_nanos <> COALESCE(v.nanos, 0)
  ORDER BY a.id LIMIT $1`;
const HELD = `SELECT a.id AS subject FROM accounts a
  LEFT JOIN (SELECT account_id, SUM(amount_nanos) AS nanos FROM holds WHERE state = 'open' GROUP BY account_id) h
    ON h.account_id = a.id
  LEFT JOIN (SELECT account_id, SUM(amount_nanos) AS nanos FROM calls WHERE ended_at IS NULL GROUP BY account_id) c
    ON c.account_id = a.id
  WHERE a.held_nanos <> COALESCE(h.nanos, 0) + COALESCE(c.nanos, 0) ORDER BY a.id LIMIT $1`;
const TOKENS = `SELECT t.id AS subject FROM tokens t
  LEFT JOIN (SELECT token_id,
      SUM(CASE WHEN state = 'open' THEN amount_nanos ELSE COALESCE(charged_nanos, 0) END) AS nanos
    FROM holds GROUP BY token_id) h ON h.token_id = t.id
  LEFT JOIN (SELECT token_id, SUM(CASE WHEN ended_at IS NULL THEN amount_nanos ELSE charged_nanos END) AS nanos
    FROM calls GROUP BY token_id) c ON c.token_id = t.id
  WHERE t.used_nanos <> COALESCE(h.nanos, 0) + COALESCE(c.nanos, 0) ORDER BY t.id LIMIT $1`;
const HOLDS = `SELECT h.task_id AS subject FROM holds h
  LEFT JOIN (SELECT e.task_id, SUM(CASE WHEN l.book LIKE 'held:%' THEN l.amount_nanos ELSE 0 END) AS held,
      SUM(CASE WHEN l.book = 'revenue' THEN l.amount_nanos ELSE 0 END) AS charged
    FROM financial_events e JOIN ledger_lines l ON l.event_key = e.event_key
    WHERE e.task_id IS NOT NULL GROUP BY e.task_id) l ON l.task_id = h.task_id
  WHERE COALESCE(l.held, -1) <> CASE WHEN h.state = 'open' THEN h.amount_nanos ELSE 0 END
    OR l.charged <> COALESCE(h.charged_nanos, 0)
  ORDER BY h.task_id LIMIT $1`;
// SQLite indexes the keys of the sums only if they have the affinity of the events' keys.
const CALLS = `SELECT e.event_key AS subject FROM financial_events e
  JOIN ledger_lines h ON h.event_key = e.event_key AND h.book = 'held:' || e.account_id
  LEFT JOIN ledger_lines r ON r.event_key = e.event_key AND r.book = 'revenue'
  LEFT JOIN (SELECT CAST('hold_calls:' || placed_in || ':' || account_id AS TEXT) AS event_key,
        SUM(amount_nanos) AS held, 0 AS charged
        FROM calls GROUP BY placed_in, account_id
      UNION ALL SELECT CAST('settle_calls:' || ended_in || ':' || account_id AS TEXT), -SUM(amount_nanos), SUM(charged_nanos)
        FROM calls WHERE ended_at IS NOT NULL GROUP BY ended_in, account_id) c ON c.event_key = e.event_key
  WHERE e.kind IN ('hold_calls', 'settle_calls')
    AND (c.event_key IS NULL OR c.held <> h.amount_nanos OR c.charged <> COALESCE(r.amount_nanos, 0))
  ORDER BY e.event_key LIMIT $1`;
const USAGE = `SELECT a.id AS subject FROM accounts a
  LEFT JOIN (SELECT account_id, SUM(charged_nanos) AS nanos FROM usage_hours GROUP BY account_id) u
    ON u.account_id = a.id
  LEFT JOIN (SELECT e.account_id, SUM(l.amount_nanos) AS nanos
    FROM ledger_lines l JOIN financial_events e ON e.event_key = l.event_key
    WHERE l.book = 'revenue' GROUP BY e.account_id) r ON r.account_id = a.id
  WHERE COALESCE(u.nanos, 0) <> COALESCE(r.nanos, 0) ORDER BY a.id LIMIT $1`;

const LABELS = `SELECT a.id AS subject FROM accounts a
  LEFT JOIN (SELECT account_id, SUM(charged_nanos) AS nanos FROM label_hours GROUP BY account_id) u
    ON u.account_id = a.id
  LEFT JOIN (SELECT account_id, SUM(nanos) AS nanos FROM (
      SELECT account_id, charged_nanos AS nanos FROM holds WHERE label <> ''
      UNION ALL SELECT account_id, charged_nanos FROM calls WHERE label <> ''
    ) AS labelled GROUP BY account_id) c ON c.account_id = a.id
  WHERE COALESCE(u.nanos, 0) <> COALESCE(c.nanos, 0) ORDER BY a.id LIMIT $1`;

/** Each check is one statement, so it sees one moment of the ledger. */
const CHECKS: readonly { readonly text: string; readonly say: (subject: string) => string }[] = [
  { text: LINES_OF_EVENTS, say: (key) => `the lines of the event ${key} do not balance` },
  { text: BALANCES, say: (id) => `the balance of the account ${id} differs from the sum of its lines` },
  { text: HELD, say: (id) => `the held amount of the account ${id} differs from the sum of its open holds and calls` },
  { text: TOKENS, say: (id) => `the used amount of the token ${id} differs from the sum of its holds and calls` },
  { text: HOLDS, say: (id) => `the hold of the task ${id} differs from the sum of its lines` },
  { text: CALLS, say: (key) => `the calls of the event ${key} differ from its lines` },
  { text: USAGE, say: (id) => `the hourly usage of the account ${id} differs from its charges` },
  { text: LABELS, say: (id) => `the hourly usage of the labels of the account ${id} differs from their charges` },
];

/**
 * The most lines or calls that a diagnosis reads. An embedded database answers no other statement while a check runs:
 * over this number it takes a few tenths of a second.
 */
const DIAGNOSED_MAX = { sqlite: 100_000, postgres: 1_000_000 } as const;
const MORE_THAN = (table: 'ledger_lines' | 'calls'): string =>
  `SELECT COUNT(*) AS count FROM (SELECT 1 FROM ${table} LIMIT $1) counted`;

type Read = <R extends SqlRow>(text: string, bound?: number) => Promise<R[]>;

export function sqlLedgerAudit(sql: Sql): LedgerAudit {
  return {
    rebuild: () => sql.transaction((query) => rebuild(query, sql.engine)),
    audit: async (now, { signal, isDiagnosis }) => {
      const read: Read = async <R extends SqlRow>(text: string, bound?: number): Promise<R[]> => {
        // An embedded database answers without letting other work of the process run.
        await new Promise((resolve) => setImmediate(resolve));
        signal.throwIfAborted();
        return sql.read<R>(text, bound === undefined ? [] : [bound]);
      };
      const isTooLarge = isDiagnosis && (await hasMoreThan(read, DIAGNOSED_MAX[sql.engine]));
      const books = isTooLarge
        ? { entries: BigInt(DIAGNOSED_MAX[sql.engine]), sums: new Map<string, bigint>(), faults: [] }
        : await readBooks(read);
      const open = await read<{ task_id: string }>(OPEN_HOLDS, OPEN_HOLDS_MAX);
      return {
        isTooLarge,
        ...books,
        openHoldTaskIds: open.map((row) => row.task_id),
        calls: await openCalls(sql, now),
      };
    },
  };
}

async function readBooks(read: Read): Promise<Books> {
  const [count] = await read<{ entries: SqlInteger }>(ENTRIES);
  const sums = (await read<{ currency: string; units: SqlInteger; rest: SqlInteger }>(SUMS)).map(
    ({ currency, units, rest }) => [currency, BigInt(units) * NANOS_PER_UNIT + BigInt(rest)] as const,
  );
  const faults = sums
    .filter(([, sum]) => sum !== 0n)
    .map(([currency]) => `the lines in ${currency} do not sum to zero`);
  for (const { text, say } of CHECKS)
    faults.push(...(await read<{ subject: string }>(text, FAULTS_MAX)).map(({ subject }) => say(subject)));
  return { entries: BigInt(count?.entries ?? 0), sums: new Map(sums), faults };
}

async function hasMoreThan(read: Read, rows: number): Promise<boolean> {
  for (const table of ['ledger_lines', 'calls'] as const) {
    const [row] = await read<{ count: SqlInteger }>(MORE_THAN(table), rows + 1);
    if (Number(row?.count ?? 0) > rows) return true;
  }
  return false;
}

async function openCalls(sql: Sql, now: number): Promise<Audit['calls']> {
  const [row] = await sql.read<{ open: SqlInteger; overdue: SqlInteger }>(OPEN_CALLS, [now - SWEEP_MS]);
  return { open: BigInt(row?.open ?? 0), overdue: BigInt(row?.overdue ?? 0) };
}

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
async function rebuild(query: SqlQuery, engine: Sql['engine']): Promise<RebuildResult> {
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
