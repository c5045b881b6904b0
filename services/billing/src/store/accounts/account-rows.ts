import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import type { SqlInteger, SqlQuery } from '@reelgate/platform/sql/sql';
import { AccountSchema } from '@reelgate/proto/billing/v1/account_service';
import type { Account } from '@reelgate/proto/billing/v1/account_service';

export type AccountRow = {
  id: string;
  currency: string;
  balance_nanos: SqlInteger;
  held_nanos: SqlInteger;
  created_at: SqlInteger;
};

export const ACCOUNT_COLUMNS = 'id, currency, balance_nanos, held_nanos, created_at';

export function readAccount({ id, currency, ...row }: AccountRow): Account {
  return toMessage(AccountSchema, {
    ...{ id, currency, balanceNanos: BigInt(row.balance_nanos), heldNanos: BigInt(row.held_nanos) },
    createdAt: timestampFromMs(Number(row.created_at)),
  });
}

/** Accounts that one statement reads: a few milliseconds of an embedded database. */
export const ACCOUNTS_OF_PART = 2000;

const END_OF_PART = `SELECT MAX(id) AS last, COUNT(*) AS count FROM (
  SELECT id FROM accounts WHERE id > $1 ORDER BY id LIMIT $2) part`;

/** Accounts with ids above `after` and up to `last`. */
interface AccountPart {
  readonly after: string;
  readonly last: string;
}

/** All accounts in parts, in the order of their ids. Each part asks for its size. */
export async function* accountParts(
  read: SqlQuery,
  first: string,
  readSize: () => number,
): AsyncGenerator<AccountPart> {
  for (let after = first, isLast = false; !isLast;) {
    const size = readSize();
    const [end] = await read(END_OF_PART, [after, size]);
    const last = String(end?.['last'] ?? after);
    isLast = Number(end?.['count'] ?? 0) < size;
    yield { after, last };
    after = last;
  }
}
