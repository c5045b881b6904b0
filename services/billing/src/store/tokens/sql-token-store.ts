import { buildStatement } from '@reelgate/platform/sql/named-values';
import type { Sql, SqlQuery, SqlWork } from '@reelgate/platform/sql/sql';
import type { Act } from '@reelgate/proto/access/v1/act';
import type { Token, TokenLimits } from '../../domain/token.ts';
import { recordAct } from '../acts/sql-acts.ts';
import { TOKEN_COLUMNS, insertToken, toToken } from './token-rows.ts';
import type { TokenRow } from './token-rows.ts';
import type { MadeTokens, NewLimits, NewToken, Revocation, RevocationParties, TokenStore } from './token-store.ts';

type HashedRow = TokenRow & { key_hash: string };

// The index is over a keyed hash, so the time of a lookup does not reveal a key.
const selectByKeyHashes = (count: number): string =>
  `SELECT ${TOKEN_COLUMNS}, key_hash FROM tokens WHERE key_hash IN (${Array.from({ length: count }, (_, at) => `$${at + 1}`).join(', ')})`;
/** Another process may have another signing key and do the opposite, so an update of no row is not an error. */
const REHASH = 'UPDATE tokens SET key_hash = $1 WHERE id = $2 AND key_hash = $3 RETURNING id';
const FIND = `SELECT ${TOKEN_COLUMNS} FROM tokens WHERE id = $1`;
const LIST = `SELECT ${TOKEN_COLUMNS} FROM tokens ORDER BY created_at, id LIMIT $1`;
// The literal, because SQLite does not match a parameter to the partial index.
const LIST_BY_HINT = `SELECT ${TOKEN_COLUMNS} FROM tokens WHERE hint = $1 AND hint <> ''
  AND (CAST($2 AS TEXT) IS NULL OR account_id = $2) ORDER BY created_at, id LIMIT $3`;
const LIST_OF_ACCOUNT = `SELECT ${TOKEN_COLUMNS} FROM tokens WHERE account_id = $2 ORDER BY created_at, id LIMIT $1`;

/** Changes no value, but locks the row. */
const LOCK = `UPDATE tokens SET used_nanos = used_nanos WHERE id = $1 RETURNING ${TOKEN_COLUMNS}`;
const SET_LIMITS = buildStatement<
  'id' | 'limit' | keyof TokenLimits | 'wait' | 'class' | 'label' | 'confirmAbove' | 'never'
>(
  (value) => `UPDATE tokens SET limit_nanos = ${value('limit')}, creates_per_minute = ${value('createsPerMinute')},
    reads_per_minute = ${value('readsPerMinute')}, calls_per_minute = ${value('callsPerMinute')},
    in_flight = ${value('inFlight')}, queue_wait = COALESCE(${value('wait')}, queue_wait),
    queue_class = COALESCE(${value('class')}, queue_class), label = COALESCE(${value('label')}, label),
    confirm_above_nanos = CASE WHEN ${value('never')} = 1 THEN NULL
      ELSE COALESCE(${value('confirmAbove')}, confirm_above_nanos) END
    WHERE id = ${value('id')} RETURNING ${TOKEN_COLUMNS}`,
);
/** A token has an existing token as its maker and never changes it, so a line of makers ends. */
const FIND_MAKERS = `WITH RECURSIVE line (maker_id, distance) AS (
    SELECT made_by_token_id, 1 FROM tokens WHERE id = $1 AND made_by_token_id IS NOT NULL
    UNION ALL
    SELECT maker.made_by_token_id, line.distance + 1 FROM line JOIN tokens AS maker ON maker.id = line.maker_id
    WHERE maker.made_by_token_id IS NOT NULL
  )
  SELECT ${TOKEN_COLUMNS} FROM line JOIN tokens ON tokens.id = line.maker_id ORDER BY line.distance`;
/** Changes no value, but locks the row: a revocation of the maker comes before this transaction or after it. */
const LOCK_MAKER = `UPDATE tokens SET used_nanos = used_nanos WHERE id = $1 AND account_id = $2
  RETURNING ${TOKEN_COLUMNS}`;
/** Two makers of one account count one after the other. Tokens are locked before accounts, as everywhere. */
const LOCK_ACCOUNT = 'UPDATE accounts SET held_nanos = held_nanos WHERE id = $1';
const COUNT_MADE = `SELECT COUNT(*) AS made,
    COALESCE(SUM(CASE WHEN revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2) THEN 1 ELSE 0 END), 0) AS live
  FROM tokens WHERE account_id = $1 AND made_by_token_id IS NOT NULL`;
const REVOKE = `UPDATE tokens SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL RETURNING ${TOKEN_COLUMNS}`;
/** The valid descendants of a token. */
const LIVE_MADE = `WITH RECURSIVE tree (id) AS (
    SELECT id FROM tokens WHERE made_by_token_id = $1
    UNION ALL
    SELECT made.id FROM tree JOIN tokens AS made ON made.made_by_token_id = tree.id
  )
  SELECT tokens.id FROM tree JOIN tokens ON tokens.id = tree.id
  WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2) ORDER BY tokens.id`;
/**
 * Each round finds the tokens that were created while the round before revoked their makers. Makers need time for a new
 * token, so the rounds end.
 */
const ROUNDS_MAX = 100;

export function sqlTokenStore(sql: Sql): TokenStore {
  return {
    insert: async (made, act) => {
      if (await isKnown(sql, made)) return false;
      if (act === undefined) return (await sql.write(...insertToken(made))).length > 0;
      return sql.transaction((query) => insertWith(query, made, act));
    },
    insertBy: async (makerId, made, permit) => {
      if (await isKnown(sql, made)) return false;
      return sql.transaction((query) => insertTokenBy(query, { makerId, made }, permit));
    },
    findByKeyHashes: async (keyHashes) => {
      const [keyHash = ''] = keyHashes;
      const row = await findByKeyHashes(sql, keyHashes);
      if (row !== undefined && row.key_hash !== keyHash) await sql.write(REHASH, [keyHash, row.id, row.key_hash]);
      return row && toToken(row);
    },
    find: (id) => find(sql.read, id),
    findMakers: (token) => findMakers(sql.read, token),
    list: async (accountId, limit) => {
      const rows = await (accountId === undefined
        ? sql.read<TokenRow>(LIST, [limit])
        : sql.read<TokenRow>(LIST_OF_ACCOUNT, [limit, accountId]));
      return rows.map(toToken);
    },
    listByHint: async (hint, accountId, limit) =>
      (await sql.read<TokenRow>(LIST_BY_HINT, [hint, accountId ?? null, limit])).map(toToken),
    revoke: (revocation, permit) => sql.transaction((query) => revokeToken(query, revocation, permit)),
    changeLimits: (id, limits, describe) => sql.transaction((query) => changeLimits(query, { id, limits }, describe)),
  };
}

/** Reports whether the key of the token is stored under another of its hashes. */
async function isKnown(sql: Sql, { keyHashes }: NewToken): Promise<boolean> {
  return keyHashes.length > 1 && (await findByKeyHashes(sql, keyHashes)) !== undefined;
}

async function insertWith(query: SqlWork, made: NewToken, act: Act): Promise<boolean> {
  if ((await query(...insertToken(made))).length === 0) return false;
  await recordAct(query, act);
  return true;
}

async function changeLimits(
  query: SqlWork,
  { id, limits: { limit, limits, queue, label, confirmAbove } }: { readonly id: string; readonly limits: NewLimits },
  describe: (before: Token) => Act,
): Promise<Token | undefined> {
  const [before] = await query<TokenRow>(LOCK, [id]);
  if (before === undefined) return undefined;
  const { createsPerMinute = null, readsPerMinute = null, callsPerMinute = null, inFlight = null } = limits;
  const { wait = null, class: best = null } = queue ?? {};
  const changed = { limit: limit ?? null, createsPerMinute, readsPerMinute, callsPerMinute, inFlight };
  const confirm = {
    confirmAbove: confirmAbove === 'never' ? null : (confirmAbove ?? null),
    never: confirmAbove === 'never' ? 1 : 0,
  };
  const [row] = await query<TokenRow>(
    ...SET_LIMITS({ id, ...changed, wait, class: best, label: label ?? null, ...confirm }),
  );
  await recordAct(query, describe(toToken(before)));
  return row && toToken(row);
}

async function find(query: SqlQuery, id: string): Promise<Token | undefined> {
  const [row] = await query<TokenRow>(FIND, [id]);
  return row && toToken(row);
}

async function findByKeyHashes(sql: Sql, keyHashes: readonly string[]): Promise<HashedRow | undefined> {
  const rows = await sql.read<HashedRow>(selectByKeyHashes(keyHashes.length), keyHashes);
  return rows.find(({ key_hash }) => key_hash === keyHashes[0]) ?? rows[0];
}

/** The maker of the token, the maker of that maker, and so on. */
async function findMakers(query: SqlQuery, { id, madeByTokenId }: Token): Promise<readonly Token[]> {
  if (madeByTokenId === undefined) return [];
  return (await query<TokenRow>(FIND_MAKERS, [id])).map(toToken);
}

/**
 * Adds a token under another token of its account, in the transaction of the query. Returns false if its key exists.
 */
async function insertTokenBy(
  query: SqlWork,
  { makerId, made }: { readonly makerId: string; readonly made: NewToken },
  permit: (maker: Token | undefined, made: MadeTokens) => Act,
): Promise<boolean> {
  const { accountId, createdAt } = made.token;
  const [row] = await query<TokenRow>(LOCK_MAKER, [makerId, accountId]);
  const maker = row && toToken(row);
  await query.changes(LOCK_ACCOUNT, [accountId]);
  const [count] = await query(COUNT_MADE, [accountId, createdAt]);
  const act = permit(maker, {
    all: Number(count?.['made'] ?? 0),
    live: Number(count?.['live'] ?? 0),
    makersOfMaker: maker === undefined ? 0 : (await findMakers(query, maker)).length,
  });
  if ((await query(...insertToken(made))).length === 0) return false;
  await recordAct(query, act);
  return true;
}

interface RevocationContext {
  readonly at: number;
  readonly describe: (token: Token) => Act;
}

/** Revokes a token in the transaction of the query. Returns undefined if it is unknown. */
async function revokeToken(
  query: SqlWork,
  { id, at, revokerId, withMade }: Revocation,
  permit: (revoking: RevocationParties) => (token: Token) => Act,
): Promise<{ readonly token: Token; readonly endedIds: readonly string[] } | undefined> {
  const token = await find(query, id);
  if (token === undefined) return undefined;
  const revoker = revokerId === undefined ? undefined : await find(query, revokerId);
  const ending = { at, describe: permit({ token, makers: await findMakers(query, token), revoker }) };
  const endedIds = await endAll(query, [id], ending);
  if (withMade) endedIds.push(...(await endMade(query, id, ending)));
  return { token: (await find(query, id)) ?? token, endedIds };
}

/**
 * A revoked token cannot create a token, because a creation locks its maker first. So the tree has ended once no token
 * is found.
 */
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

/** Returns the tokens that were not revoked before. */
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
