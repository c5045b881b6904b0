import type { Sql, SqlQuery, SqlWork } from '@reelgate/platform/sql/sql';
import type { Act } from '../../domain/act.ts';
import type { Token } from '../../domain/token.ts';
import { recordAct } from '../acts/sql-acts.ts';
import { insertTokenBy } from './sql-made-tokens.ts';
import { findMakers } from './sql-makers.ts';
import { revokeToken } from './sql-revocations.ts';
import { INSERT_TOKEN, TOKEN_COLUMNS, toToken, toTokenRow } from './token-rows.ts';
import type { TokenRow } from './token-rows.ts';
import type { NewToken, SetLimits, TokenStore } from './token-store.ts';

type HashedRow = TokenRow & { key_hash: string };

// The index is over a keyed hash, so the time of a lookup reveals nothing about any key.
const selectByKeyHashes = (count: number): string =>
  `SELECT ${TOKEN_COLUMNS}, key_hash FROM tokens WHERE key_hash IN (${Array.from({ length: count }, (_, at) => `$${at + 1}`).join(', ')})`;
/** Another process may have another signing key and do the opposite, so it is not an error if nothing is updated. */
const REHASH = 'UPDATE tokens SET key_hash = $1 WHERE id = $2 AND key_hash = $3 RETURNING id';
const FIND = `SELECT ${TOKEN_COLUMNS} FROM tokens WHERE id = $1`;
const LIST = `SELECT ${TOKEN_COLUMNS} FROM tokens ORDER BY created_at, id LIMIT $1`;
const LIST_OF_ACCOUNT = `SELECT ${TOKEN_COLUMNS} FROM tokens WHERE account_id = $2 ORDER BY created_at, id LIMIT $1`;

/** Changes nothing, but locks the row. */
const LOCK = `UPDATE tokens SET used_nanos = used_nanos WHERE id = $1 RETURNING ${TOKEN_COLUMNS}`;
const SET_LIMITS = `UPDATE tokens SET limit_nanos = $1, creates_per_minute = $2, reads_per_minute = $3,
    calls_per_minute = $4, in_flight = $5 WHERE id = $6 RETURNING ${TOKEN_COLUMNS}`;

export function sqlTokenStore(sql: Sql): TokenStore {
  return {
    insert: async (made, act) => {
      if (await isKnown(sql, made)) return false;
      if (act === undefined) return (await sql.write(INSERT_TOKEN, toTokenRow(made))).length > 0;
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
    revoke: (revocation, permit) => sql.transaction((query) => revokeToken(query, revocation, permit)),
    changeLimits: (id, limits, describe) => sql.transaction((query) => changeLimits(query, { id, limits }, describe)),
  };
}

/** Reports whether the key of the token is stored under another of its hashes. */
async function isKnown(sql: Sql, { keyHashes }: NewToken): Promise<boolean> {
  return keyHashes.length > 1 && (await findByKeyHashes(sql, keyHashes)) !== undefined;
}

async function insertWith(query: SqlWork, made: NewToken, act: Act): Promise<boolean> {
  if ((await query(INSERT_TOKEN, toTokenRow(made))).length === 0) return false;
  await recordAct(query, act);
  return true;
}

async function changeLimits(
  query: SqlWork,
  { id, limits: { limit, limits } }: { readonly id: string; readonly limits: SetLimits },
  describe: (before: Token) => Act,
): Promise<Token | undefined> {
  const [before] = await query<TokenRow>(LOCK, [id]);
  if (before === undefined) return undefined;
  const { createsPerMinute = null, readsPerMinute = null, callsPerMinute = null, inFlight = null } = limits;
  const values = [limit ?? null, createsPerMinute, readsPerMinute, callsPerMinute, inFlight, id];
  const [row] = await query<TokenRow>(SET_LIMITS, values);
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
