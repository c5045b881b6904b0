import type { Sql } from '@reelgate/platform/sql/sql';
import type { Account } from '../../domain/account.ts';
import type { AccountList, AccountPage } from './account-store.ts';
import { ACCOUNT_COLUMNS, toAccount, ACCOUNTS_OF_PART, accountParts } from './account-rows.ts';
import type { AccountRow } from './account-rows.ts';

/** The collation of a server may order ids in another way than their letters, so a prefix is no range. */
const inPart = (order: string): string => `SELECT ${ACCOUNT_COLUMNS} FROM accounts
  WHERE id > $1 AND id <= $2 AND SUBSTR(id, 1, $3) = $4 ORDER BY ${order} LIMIT $5`;
const BY_ID = inPart('id');
const BY_FREE = inPart('balance_nanos - held_nanos, id');

export function sqlAccountList(sql: Sql, size = ACCOUNTS_OF_PART): AccountList {
  async function* read(text: string, first: string, { limit, prefix }: AccountPage): AsyncGenerator<Account[]> {
    for await (const { after, last } of accountParts(sql.read, first, () => size)) {
      const rows = await sql.read<AccountRow>(text, [after, last, prefix.length, prefix, limit]);
      yield rows.map(toAccount);
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
  const more = left.balance - left.held - (right.balance - right.held);
  if (more !== 0n) return more < 0n ? -1 : 1;
  return left.id < right.id ? -1 : 1;
}
