import type { SqlQuery } from '@reelgate/platform/sql/sql';

/** Accounts that one statement reads: a few milliseconds of an embedded database. */
export const ACCOUNTS_OF_PART = 2000;

const END_OF_PART = `SELECT MAX(id) AS last, COUNT(*) AS count FROM (
  SELECT id FROM accounts WHERE id > $1 ORDER BY id LIMIT $2) part`;

/** Accounts with ids above `after` and up to `last`. */
export interface AccountPart {
  readonly after: string;
  readonly last: string;
}

/** All accounts in parts, in the order of their ids. */
export async function* accountParts(read: SqlQuery, first: string, size: number): AsyncGenerator<AccountPart> {
  for (let after = first, isLast = false; !isLast;) {
    const [end] = await read(END_OF_PART, [after, size]);
    const last = String(end?.['last'] ?? after);
    isLast = Number(end?.['count'] ?? 0) < size;
    yield { after, last };
    after = last;
  }
}
