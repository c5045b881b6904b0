import type { SqlQuery, SqlWork } from '@reelgate/platform/sql/sql';
import type { Act } from '../../domain/act.ts';
import type { Token } from '../../domain/token.ts';
import { recordAct } from '../acts/sql-acts.ts';
import { findMakers } from './sql-makers.ts';
import { TOKEN_COLUMNS, toToken } from './token-rows.ts';
import type { TokenRow } from './token-rows.ts';
import type { Revocation, RevocationParties } from './token-store.ts';

const FIND = `SELECT ${TOKEN_COLUMNS} FROM tokens WHERE id = $1`;
const REVOKE = `UPDATE tokens SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL RETURNING ${TOKEN_COLUMNS}`;
/** The tokens that a token made, directly or through others, and that can still be used. */
const LIVE_MADE = `WITH RECURSIVE tree (id) AS (
    SELECT id FROM tokens WHERE made_by_token_id = $1
    UNION ALL
    SELECT made.id FROM tree JOIN tokens AS made ON made.made_by_token_id = tree.id
  )
  SELECT tokens.id FROM tree JOIN tokens ON tokens.id = tree.id
  WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2) ORDER BY tokens.id`;
/**
 * Each round finds the tokens that were made while the round before revoked their makers, which need time to make
 * some.
 */
const ROUNDS_MAX = 100;

interface RevocationContext {
  readonly at: number;
  readonly describe: (token: Token) => Act;
}

/** Revokes a token in the transaction of the query. Undefined: it is unknown. */
export async function revokeToken(
  query: SqlWork,
  { id, at, revokerId, withMade }: Revocation,
  permit: (revoking: RevocationParties) => (token: Token) => Act,
): Promise<{ readonly token: Token; readonly endedIds: readonly string[] } | undefined> {
  const token = await findToken(query, id);
  if (token === undefined) return undefined;
  const revoker = revokerId === undefined ? undefined : await findToken(query, revokerId);
  const ending = { at, describe: permit({ token, makers: await findMakers(query, token), revoker }) };
  const endedIds = await endAll(query, [id], ending);
  if (withMade) endedIds.push(...(await endMade(query, id, ending)));
  return { token: (await findToken(query, id)) ?? token, endedIds };
}

/** A revoked token makes no more: the creation of a token locks its maker first. So nothing is left once none is found. */
async function endMade(query: SqlWork, id: string, ending: RevocationContext): Promise<string[]> {
  const endedIds: string[] = [];
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const live = await query<{ id: string }>(LIVE_MADE, [id, ending.at]);
    if (live.length === 0) return endedIds;
    endedIds.push(
      ...(await endAll(
        query,
        live.map((made) => made.id),
        ending,
      )),
    );
  }
  throw new Error(`the tokens that ${id} made become more while they are revoked`);
}

/** Gives those that were not revoked before. */
async function endAll(query: SqlWork, ids: readonly string[], { at, describe }: RevocationContext): Promise<string[]> {
  const endedIds: string[] = [];
  for (const id of ids) {
    const [row] = await query<TokenRow>(REVOKE, [at, id]);
    if (row === undefined) continue;
    await recordAct(query, describe(toToken(row)));
    endedIds.push(id);
  }
  return endedIds;
}

async function findToken(query: SqlQuery, id: string): Promise<Token | undefined> {
  const [row] = await query<TokenRow>(FIND, [id]);
  return row && toToken(row);
}
