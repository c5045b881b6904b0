import type { SqlWork } from '@reelgate/platform/sql/sql';
import type { Act } from '../../domain/act.ts';
import type { Token } from '../../domain/token.ts';
import { recordAct } from '../acts/sql-acts.ts';
import { findMakers } from './sql-makers.ts';
import { INSERT_TOKEN, TOKEN_COLUMNS, toToken, toTokenRow } from './token-rows.ts';
import type { TokenRow } from './token-rows.ts';
import type { MadeTokens, NewToken } from './token-store.ts';

/** Changes nothing, but locks the row: a revocation of the maker comes before this transaction or after it. */
const LOCK_MAKER = `UPDATE tokens SET used_nanos = used_nanos WHERE id = $1 AND account_id = $2
  RETURNING ${TOKEN_COLUMNS}`;
/** Two makers of one account count one after the other. Tokens are locked before accounts, as everywhere. */
const LOCK_ACCOUNT = 'UPDATE accounts SET held_nanos = held_nanos WHERE id = $1';
const COUNT = `SELECT COUNT(*) AS made,
    COALESCE(SUM(CASE WHEN revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2) THEN 1 ELSE 0 END), 0) AS live
  FROM tokens WHERE account_id = $1 AND made_by_token_id IS NOT NULL`;

/** Adds a token that another token of its account makes, in the transaction of the query. False: its key exists. */
export async function insertTokenBy(
  query: SqlWork,
  { makerId, made }: { readonly makerId: string; readonly made: NewToken },
  permit: (maker: Token | undefined, made: MadeTokens) => Act,
): Promise<boolean> {
  const { accountId, createdAt } = made.token;
  const [row] = await query<TokenRow>(LOCK_MAKER, [makerId, accountId]);
  const maker = row && toToken(row);
  await query.changes(LOCK_ACCOUNT, [accountId]);
  const [count] = await query(COUNT, [accountId, createdAt]);
  const act = permit(maker, {
    all: Number(count?.['made'] ?? 0),
    live: Number(count?.['live'] ?? 0),
    makersOfMaker: maker === undefined ? 0 : (await findMakers(query, maker)).length,
  });
  if ((await query(INSERT_TOKEN, toTokenRow(made))).length === 0) return false;
  await recordAct(query, act);
  return true;
}
