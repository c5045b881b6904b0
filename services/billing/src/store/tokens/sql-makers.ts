import type { SqlQuery } from '@reelgate/platform/sql/sql';
import type { Token } from '../../domain/token.ts';
import { TOKEN_COLUMNS, toToken } from './token-rows.ts';
import type { TokenRow } from './token-rows.ts';

/** A token is made by one that exists and never changes its maker, so a line of makers ends. */
const FIND_MAKERS = `WITH RECURSIVE line (maker_id, distance) AS (
    SELECT made_by_token_id, 1 FROM tokens WHERE id = $1 AND made_by_token_id IS NOT NULL
    UNION ALL
    SELECT maker.made_by_token_id, line.distance + 1 FROM line JOIN tokens AS maker ON maker.id = line.maker_id
    WHERE maker.made_by_token_id IS NOT NULL
  )
  SELECT ${TOKEN_COLUMNS} FROM line JOIN tokens ON tokens.id = line.maker_id ORDER BY line.distance`;

/** The maker of the token, then the maker of that, and so on. */
export async function findMakers(
  query: SqlQuery,
  { id, madeByTokenId }: Pick<Token, 'id' | 'madeByTokenId'>,
): Promise<readonly Token[]> {
  if (madeByTokenId === undefined) return [];
  return (await query<TokenRow>(FIND_MAKERS, [id])).map(toToken);
}
