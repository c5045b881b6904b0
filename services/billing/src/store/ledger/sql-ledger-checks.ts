import type { Sql } from '@reelgate/platform/sql/sql';
import { recordAct } from '../acts/sql-acts.ts';
import type { LedgerChecks } from './ledger-checks.ts';

type Whole = number | bigint;
type CheckRow = {
  id: string;
  at: Whole;
  took_ms: Whole;
  is_ok: Whole;
  entries: Whole;
  faults_json: string;
  actor: string;
};

const CHECKS_MAX = 100;

const COLUMNS = 'id, at, took_ms, is_ok, entries, faults_json, actor';
const INSERT = `INSERT INTO ledger_checks (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7)`;
const REMOVE = `DELETE FROM ledger_checks WHERE id NOT IN (
  SELECT id FROM ledger_checks ORDER BY id DESC LIMIT ${CHECKS_MAX})`;
const LAST = `SELECT ${COLUMNS} FROM ledger_checks ORDER BY id DESC LIMIT 1`;

export function sqlLedgerChecks(sql: Sql): LedgerChecks {
  return {
    record: ({ id, at, tookMs, isOk, entries, faults, actor }, act) =>
      sql.transaction(async (query) => {
        await query(INSERT, [id, at, tookMs, isOk ? 1 : 0, entries, JSON.stringify(faults), actor]);
        await query(REMOVE);
        await recordAct(query, act);
      }),
    last: async () => {
      const [row] = await sql.read<CheckRow>(LAST);
      return (
        row && {
          id: row.id,
          at: Number(row.at),
          tookMs: Number(row.took_ms),
          isOk: Number(row.is_ok) === 1,
          entries: BigInt(row.entries),
          faults: JSON.parse(row.faults_json) as string[],
          actor: row.actor,
        }
      );
    },
  };
}
