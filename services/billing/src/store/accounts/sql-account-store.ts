import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import type { Sql, SqlInteger, SqlQuery } from '@reelgate/platform/sql/sql';
import { whileAwaited } from '@reelgate/platform/sql/transaction';
import { CreditSchema } from '@reelgate/proto/billing/v1/money';
import type { Credit as BookedCredit } from '@reelgate/proto/billing/v1/money';
import { amountOutOfBounds, unknownAccount } from '../../billing-refusals.ts';
import type { Account } from '@reelgate/proto/billing/v1/account_service';
import type { Act } from '@reelgate/proto/access/v1/act';
import { creditEvent } from '../../domain/ledger.ts';
import type { Credit } from '../../domain/ledger.ts';
import { TOTAL_NANOS_MAX } from '../../domain/money.ts';
import type { Nanos } from '../../domain/money.ts';
import { recordAct } from '../acts/sql-acts.ts';
import { recordEvent } from '../ledger/sql-ledger-events.ts';
import { ACCOUNT_COLUMNS, readAccount, ACCOUNTS_OF_PART, accountParts } from './account-rows.ts';
import type { AccountRow } from './account-rows.ts';
import type { AccountStore, AccountList, AccountPage } from './account-store.ts';

const CREDITS = `SELECT e.event_key, e.occurred_at, e.reason, e.actor, l.amount_nanos FROM financial_events e
  JOIN ledger_lines l ON l.event_key = e.event_key AND l.book = 'available:' || e.account_id
  WHERE e.account_id = $1 AND e.kind = 'credit' ORDER BY e.occurred_at DESC, e.event_key DESC LIMIT $2`;

const CURRENCIES_CACHED_MAX = 20_000;

const FIND = `SELECT ${ACCOUNT_COLUMNS} FROM accounts WHERE id = $1`;
const INSERT = `INSERT INTO accounts (id, currency, balance_nanos, held_nanos, created_at)
  VALUES ($1, $2, $3, 0, $4) ON CONFLICT (id) DO NOTHING RETURNING id`;
const ADD = `UPDATE accounts SET balance_nanos = balance_nanos + $1
  WHERE id = $2 AND balance_nanos + $1 BETWEEN -${TOTAL_NANOS_MAX} AND ${TOTAL_NANOS_MAX} RETURNING ${ACCOUNT_COLUMNS}`;
const AMOUNT_OF_EVENT = 'SELECT amount_nanos FROM ledger_lines WHERE event_key = $1 AND book = $2';

export function sqlAccountStore(sql: Sql): AccountStore {
  const currencies = new Map<string, string>();
  return {
    find: (id) => find(sql.read, id),
    findCurrency: async (id) => {
      const known = currencies.get(id);
      if (known !== undefined) return known;
      const account = await find(sql.read, id);
      if (currencies.size >= CURRENCIES_CACHED_MAX) currencies.clear();
      if (account !== undefined) currencies.set(id, account.currency);
      return account?.currency;
    },
    create: (credit) =>
      sql.transaction(async (query) => {
        const made = await query(INSERT, [credit.accountId, credit.currency, credit.amount, credit.at]);
        if (made.length === 0) return false;
        if (!(await recordEvent(query, creditEvent(credit))))
          throw new Error(`${credit.key} is taken, but its account is new`);
        return true;
      }),
    credit: (credit, act, signal) =>
      sql.transaction((query) => whileAwaited(signal, () => addCredit(query, credit, act))),
    credits: (accountId, limit) => readCredits(sql.read, accountId, limit),
  };
}

async function addCredit(query: SqlQuery, credit: Credit, act: Act): Promise<{ account: Account; amount: Nanos }> {
  const event = creditEvent(credit);
  if (!(await recordEvent(query, event))) {
    const account = await find(query, credit.accountId);
    const [line] = await query<{ amount_nanos: SqlInteger }>(AMOUNT_OF_EVENT, [
      event.key,
      event.postings[0]?.book ?? '',
    ]);
    if (account === undefined || line === undefined) throw unknownAccount('id');
    return { account, amount: BigInt(line.amount_nanos) };
  }
  const [row] = await query<AccountRow>(ADD, [credit.amount, credit.accountId]);
  if (row === undefined)
    throw (await find(query, credit.accountId)) === undefined
      ? unknownAccount('id')
      : amountOutOfBounds('amount_nanos');
  await recordAct(query, act);
  return { account: readAccount(row), amount: credit.amount };
}

async function find(query: SqlQuery, id: string): Promise<Account | undefined> {
  const [row] = await query<AccountRow>(FIND, [id]);
  return row && readAccount(row);
}

type CreditRow = {
  event_key: string;
  occurred_at: SqlInteger;
  reason: string;
  actor: string;
  amount_nanos: SqlInteger;
};

async function readCredits(query: SqlQuery, accountId: string, limit: number): Promise<BookedCredit[]> {
  const rows = await query<CreditRow>(CREDITS, [accountId, limit]);
  return rows.map((row) =>
    toMessage(CreditSchema, {
      key: row.event_key,
      at: timestampFromMs(Number(row.occurred_at)),
      amountNanos: BigInt(row.amount_nanos),
      reason: row.reason,
      actor: row.actor,
    }),
  );
}

/** The collation of a server may order ids in another way than their letters, so a prefix is no range. */
const inPart = (order: string): string => `SELECT ${ACCOUNT_COLUMNS} FROM accounts
  WHERE id > $1 AND id <= $2 AND SUBSTR(id, 1, $3) = $4 ORDER BY ${order} LIMIT $5`;
const BY_ID = inPart('id');
const BY_FREE = inPart('balance_nanos - held_nanos, id');

export function sqlAccountList(sql: Sql, size = ACCOUNTS_OF_PART): AccountList {
  async function* read(text: string, first: string, { limit, prefix }: AccountPage): AsyncGenerator<Account[]> {
    for await (const { after, last } of accountParts(sql.read, first, () => size)) {
      const rows = await sql.read<AccountRow>(text, [after, last, prefix.length, prefix, limit]);
      yield rows.map(readAccount);
    }
  }
  return {
    byId: async ({ after, ...page }) => {
      const found: Account[] = [];
      for await (const accounts of read(BY_ID, after, page)) {
        found.push(...accounts);
        if (found.length >= page.limit) break;
      }
      return found.slice(0, page.limit);
    },
    byFree: async (page) => {
      let least: Account[] = [];
      for await (const accounts of read(BY_FREE, '', page))
        least = [...least, ...accounts].sort(byFree).slice(0, page.limit);
      return least;
    },
  };
}

function byFree(left: Account, right: Account): number {
  const more = left.balanceNanos - left.heldNanos - (right.balanceNanos - right.heldNanos);
  if (more !== 0n) return more < 0n ? -1 : 1;
  return left.id < right.id ? -1 : 1;
}
