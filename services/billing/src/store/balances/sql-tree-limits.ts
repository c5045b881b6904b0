import type { SqlInteger, SqlQuery } from '@reelgate/platform/sql/sql';
import type { Nanos } from '../../domain/money.ts';

/*
 * The spending limit of a token bounds what it and all that it made use together. The sum is read while the row of the
 * account is locked, which every reservation of the account changes: no two reservations read it at once, and the rows
 * of the makers need no lock of their own.
 */

/** The limits of the token and of its makers, each less the used amount of its whole tree. */
const LEFT_OF_TREES = `WITH RECURSIVE line (id, limit_nanos, maker_id) AS (
    SELECT id, limit_nanos, made_by_token_id FROM tokens WHERE id = $1
    UNION ALL
    SELECT maker.id, maker.limit_nanos, maker.made_by_token_id FROM line
    JOIN tokens AS maker ON maker.id = line.maker_id
  ), tree (top_id, id, used_nanos) AS (
    SELECT line.id, top.id, top.used_nanos FROM line JOIN tokens AS top ON top.id = line.id
    WHERE line.limit_nanos IS NOT NULL
    UNION ALL
    SELECT tree.top_id, made.id, made.used_nanos FROM tree JOIN tokens AS made ON made.made_by_token_id = tree.id
  )
  SELECT line.id, line.limit_nanos - CAST(SUM(tree.used_nanos) AS BIGINT) AS left_nanos
  FROM line JOIN tree ON tree.top_id = line.id GROUP BY line.id, line.limit_nanos`;

/** The amount that a limit leaves. */
export interface TreeLeft {
  /** The owner of the limit: the token itself, or one of its makers. */
  readonly of: 'token' | 'maker';
  readonly left: Nanos;
}

/**
 * The smallest remainder of the limits of the token and its makers. It is negative if too much is reserved, and
 * undefined if no limit applies.
 */
export async function readTreeLeft(query: SqlQuery, tokenId: string): Promise<TreeLeft | undefined> {
  const rows = await query<{ id: string; left_nanos: SqlInteger }>(LEFT_OF_TREES, [tokenId]);
  let least: TreeLeft | undefined;
  for (const { id, left_nanos: nanos } of rows) {
    const left = BigInt(nanos);
    if (least === undefined || left < least.left) least = { of: id === tokenId ? 'token' : 'maker', left };
  }
  return least;
}
