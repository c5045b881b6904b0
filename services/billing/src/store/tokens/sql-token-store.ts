import type { Sql } from '@reelgate/platform/sql/sql';
import type { Token, WebhookRight } from '../../domain/token.ts';
import type { TokenStore } from './token-store.ts';

type Whole = number | bigint;
type TokenRow = {
  id: string;
  account_id: string;
  name: string;
  models: string;
  limit_nanos: Whole | null;
  used_nanos: Whole;
  created_at: Whole;
  expires_at: Whole | null;
  revoked_at: Whole | null;
  creates_per_minute: number | null;
  reads_per_minute: number | null;
  calls_per_minute: number | null;
  in_flight: number | null;
  webhooks: WebhookRight | null;
};
type HashedRow = TokenRow & { key_hash: string };

const COLUMNS = `id, account_id, name, models, limit_nanos, used_nanos, created_at, expires_at, revoked_at,
  creates_per_minute, reads_per_minute, calls_per_minute, in_flight, webhooks`;
const INSERT = `INSERT INTO tokens (${COLUMNS}, key_hash, origin)
  VALUES ($1, $2, $3, $4, $5, 0, $6, $7, NULL, $8, $9, $10, $11, $12, $13, $14) ON CONFLICT DO NOTHING RETURNING id`;
// The index is over a keyed hash, so the time of a lookup reveals nothing about any key.
const selectByKeyHashes = (count: number): string =>
  `SELECT ${COLUMNS}, key_hash FROM tokens WHERE key_hash IN (${Array.from({ length: count }, (_, at) => `$${String(at + 1)}`).join(', ')})`;
/** Another process may have another signing key and do the opposite, so it is not an error if nothing is updated. */
const REHASH = 'UPDATE tokens SET key_hash = $1 WHERE id = $2 AND key_hash = $3 RETURNING id';
const FIND = `SELECT ${COLUMNS} FROM tokens WHERE id = $1`;
const LIST = `SELECT ${COLUMNS} FROM tokens ORDER BY created_at, id LIMIT $1`;
const LIST_OF_ACCOUNT = `SELECT ${COLUMNS} FROM tokens WHERE account_id = $2 ORDER BY created_at, id LIMIT $1`;
const REVOKE = `UPDATE tokens SET revoked_at = COALESCE(revoked_at, $1) WHERE id = $2 RETURNING ${COLUMNS}`;

export function sqlTokenStore(sql: Sql): TokenStore {
  return {
    insert: async ({ token, keyHashes, origin = null }) => {
      const [keyHash = ''] = keyHashes;
      if (keyHashes.length > 1 && (await findByKeyHashes(sql, keyHashes)) !== undefined) return false;
      const { id, accountId, name, models, limit = null, createdAt, expiresAt = null, limits, webhooks } = token;
      const { createsPerMinute = null, readsPerMinute = null, callsPerMinute = null, inFlight = null } = limits;
      const made = await sql.write(INSERT, [
        id,
        accountId,
        name,
        JSON.stringify(models),
        limit,
        createdAt,
        expiresAt,
        createsPerMinute,
        readsPerMinute,
        callsPerMinute,
        inFlight,
        webhooks,
        keyHash,
        origin,
      ]);
      return made.length > 0;
    },
    findByKeyHashes: async (keyHashes) => {
      const [keyHash = ''] = keyHashes;
      const row = await findByKeyHashes(sql, keyHashes);
      if (row !== undefined && row.key_hash !== keyHash) await sql.write(REHASH, [keyHash, row.id, row.key_hash]);
      return row && fromRow(row);
    },
    find: async (id) => {
      const [row] = await sql.read<TokenRow>(FIND, [id]);
      return row && fromRow(row);
    },
    list: async (accountId, limit) => {
      const rows = await (accountId === undefined
        ? sql.read<TokenRow>(LIST, [limit])
        : sql.read<TokenRow>(LIST_OF_ACCOUNT, [limit, accountId]));
      return rows.map(fromRow);
    },
    revoke: async (id, at) => {
      const [row] = await sql.write<TokenRow>(REVOKE, [at, id]);
      return row && fromRow(row);
    },
  };
}

async function findByKeyHashes(sql: Sql, keyHashes: readonly string[]): Promise<HashedRow | undefined> {
  const rows = await sql.read<HashedRow>(selectByKeyHashes(keyHashes.length), keyHashes);
  return rows.find(({ key_hash }) => key_hash === keyHashes[0]) ?? rows[0];
}

function fromRow(row: TokenRow): Token {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    models: JSON.parse(row.models) as string[],
    used: BigInt(row.used_nanos),
    limit: row.limit_nanos === null ? undefined : BigInt(row.limit_nanos),
    createdAt: Number(row.created_at),
    expiresAt: time(row.expires_at),
    revokedAt: time(row.revoked_at),
    limits: {
      createsPerMinute: row.creates_per_minute ?? undefined,
      readsPerMinute: row.reads_per_minute ?? undefined,
      callsPerMinute: row.calls_per_minute ?? undefined,
      inFlight: row.in_flight ?? undefined,
    },
    webhooks: row.webhooks ?? 'write',
  };
}

function time(value: Whole | null): number | undefined {
  return value === null ? undefined : Number(value);
}
