import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import { buildInsert } from '@reelgate/platform/sql/named-values';
import type { Sql, SqlInteger } from '@reelgate/platform/sql/sql';
import { LedgerCheckSchema } from '@reelgate/proto/billing/v1/money';
import { listTaskKeys } from '../../domain/ledger.ts';
import { recordAct } from '../acts/sql-acts.ts';
import type { CheckLedgerPage, LedgerChecks } from './ledger-audit.ts';

/** Events that one pass reads at most, of the newest tasks and of the round. */
const EVENTS_OF_PASS = 500;
const TASK_KEYS = listTaskKeys('').map((prefix) => `'${prefix}' || newest.task_id`);
/**
 * Selects the events of a page with lines that do not sum to zero, in one currency. The sum of a few amounts fits 64
 * bits.
 */
const selectFaulty = (page: string): string => `SELECT page.event_key AS subject FROM (${page}) page
  LEFT JOIN ledger_lines l ON l.event_key = page.event_key
  WHERE page.kind <> 'void' GROUP BY page.event_key
  HAVING COUNT(l.book) < 2 OR COUNT(DISTINCT l.currency) > 1 OR SUM(l.amount_nanos) <> 0`;
/**
 * The events are found by their keys, because an embedded store has no index of their tasks. PostgreSQL does not know the
 * limit when it plans, so it reads the index while there are few holds, too, and keeps that plan when there are many.
 */
const NEWEST = selectFaulty(`SELECT e.event_key, e.kind
  FROM (SELECT task_id FROM holds ORDER BY task_id DESC LIMIT (SELECT CAST($1 AS BIGINT))) newest
  JOIN financial_events e ON e.event_key IN (${TASK_KEYS.join(', ')})`);
const NEXT = selectFaulty(
  'SELECT event_key, kind FROM financial_events WHERE event_key > $1 ORDER BY event_key LIMIT $2',
);
const END_OF_NEXT = `SELECT MAX(event_key) AS last, COUNT(*) AS count FROM (
  SELECT event_key FROM financial_events WHERE event_key > $1 ORDER BY event_key LIMIT $2) page`;

type CheckRow = {
  id: string;
  at: SqlInteger;
  took_ms: SqlInteger;
  is_ok: SqlInteger;
  entries: SqlInteger;
  faults_json: string;
  actor: string;
};

const CHECKS_MAX = 100;

const COLUMNS = ['id', 'at', 'took_ms', 'is_ok', 'entries', 'faults_json', 'actor'] as const;
const INSERT = buildInsert('ledger_checks', COLUMNS);
const REMOVE = `DELETE FROM ledger_checks WHERE id NOT IN (
  SELECT id FROM ledger_checks ORDER BY id DESC LIMIT ${CHECKS_MAX})`;
const LAST = `SELECT ${COLUMNS.join(', ')} FROM ledger_checks ORDER BY id DESC LIMIT 1`;

export function sqlLedgerChecks(sql: Sql): LedgerChecks {
  return {
    record: ({ id, at, tookMs, isOk, entries, faults, actor }, act) =>
      sql.transaction(async (query) => {
        const faultsJson = JSON.stringify(faults);
        await query(
          ...INSERT({ id, at, took_ms: tookMs, is_ok: isOk ? 1 : 0, entries, faults_json: faultsJson, actor }),
        );
        await query(REMOVE);
        await recordAct(query, act);
      }),
    last: async () => {
      const [row] = await sql.read<CheckRow>(LAST);
      return (
        row &&
        toMessage(LedgerCheckSchema, {
          at: timestampFromMs(Number(row.at)),
          tookMs: BigInt(row.took_ms),
          ok: Number(row.is_ok) === 1,
          entries: BigInt(row.entries),
          faults: JSON.parse(row.faults_json) as string[],
          actor: row.actor,
        })
      );
    },
  };
}

export function sqlLedgerCheck(sql: Sql, page = EVENTS_OF_PASS): CheckLedgerPage {
  return async ({ after, faults }) => {
    const newest = await sql.read(NEWEST, [Math.ceil(page / TASK_KEYS.length)]);
    const found = await sql.read(NEXT, [after, page]);
    const [end] = await sql.read(END_OF_NEXT, [after, page]);
    return {
      round: { after: String(end?.['last'] ?? ''), faults: faults + found.length },
      isLast: Number(end?.['count'] ?? 0) < page,
      newestFaults: newest.length,
    };
  };
}
