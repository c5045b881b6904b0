import type { Sql, SqlInteger } from '@reelgate/platform/sql/sql';
import type { LowAccountStore, LowCredit } from './account-store.ts';

type LowRow = {
  id: string;
  currency: string;
  left_nanos: SqlInteger;
  credit_nanos: SqlInteger;
  credit_key: string;
  low_credit_key: string | null;
};

/** Accounts that one pass reads: one to two milliseconds of an embedded database. */
const PAGE = 250;
const PAGE_OF_ACCOUNTS = `(SELECT a.id, a.currency, a.low_credit_key, a.low_repeat_at,
      a.balance_nanos - a.held_nanos AS left_nanos,
      (SELECT e.event_key FROM financial_events e
         JOIN ledger_lines l ON l.event_key = e.event_key AND l.book = 'available:' || a.id
         WHERE e.account_id = a.id AND e.kind = 'credit' AND l.amount_nanos > 0
         ORDER BY e.occurred_at DESC LIMIT 1) AS credit_key
    FROM accounts a WHERE a.id > $1 ORDER BY a.id LIMIT $2) page
  LEFT JOIN ledger_lines c ON c.event_key = page.credit_key AND c.book = 'available:' || page.id`;
/** An account without a credit is low once its money is below zero. It has no credit to announce. */
const IS_LOW = 'left_nanos < COALESCE(c.amount_nanos, 0) / 10';
const IS_DUE = `${IS_LOW} AND credit_key IS NOT NULL
  AND (low_credit_key IS NULL OR low_credit_key <> credit_key OR low_repeat_at <= $3)`;
const COUNT = `SELECT COUNT(*) AS count, MAX(id) AS last, SUM(CASE WHEN ${IS_LOW} THEN 1 ELSE 0 END) AS low,
    SUM(CASE WHEN ${IS_DUE} THEN 1 ELSE 0 END) AS due
  FROM ${PAGE_OF_ACCOUNTS}`;
const DUE = `SELECT id, page.currency, left_nanos, c.amount_nanos AS credit_nanos, credit_key, low_credit_key
  FROM ${PAGE_OF_ACCOUNTS} WHERE ${IS_DUE} ORDER BY id`;
const MARK = 'UPDATE accounts SET low_credit_key = $1, low_repeat_at = $2 WHERE id = $3';

export function sqlLowAccounts(sql: Sql, page = PAGE): LowAccountStore {
  return {
    countNext: async ({ after, low }, now) => {
      const values = [after, page, now];
      const [row] = await sql.read(COUNT, values);
      const count = {
        after: String(row?.['last'] ?? ''),
        low: low + Number(row?.['low'] ?? 0),
        isWhole: Number(row?.['count'] ?? 0) < page,
      };
      // Nearly every page has no low account.
      if (Number(row?.['due'] ?? 0) === 0) return { count, due: [] };
      return { count, due: (await sql.read<LowRow>(DUE, values)).map(fromRow) };
    },
    mark: async ({ accountId, creditKey }, repeatAt) => {
      await sql.write(MARK, [creditKey, repeatAt ?? null, accountId]);
    },
  };
}

function fromRow(row: LowRow): LowCredit {
  return {
    accountId: row.id,
    currency: row.currency,
    creditKey: row.credit_key,
    credit: BigInt(row.credit_nanos),
    available: BigInt(row.left_nanos),
    isRepeat: row.low_credit_key === row.credit_key,
  };
}
