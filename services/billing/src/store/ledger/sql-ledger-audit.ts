import type { Sql, SqlInteger, SqlRow } from '@reelgate/platform/sql/sql';
import type { Audit, Books, LedgerAudit } from './ledger-audit.ts';
import { rebuild } from './sql-rebuild.ts';

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
