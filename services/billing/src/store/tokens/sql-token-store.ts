import type { Sql } from '@reelgate/platform/sql/sql';
import type { Token } from '../../domain/token.ts';
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
};

const COLUMNS = `id, account_id, name, models, limit_nanos, used_nanos, created_at, expires_at, revoked_at,
  creates_per_minute, reads_per_minute, calls_per_minute, in_flight`;
const INSERT = `INSERT INTO tokens (${COLUMNS}, key_hash, origin)
  VALUES ($1, $2, $3, $4, $5, 0, $6, $7, NULL, $8, $9, $10, $11, $12, $13) ON CONFLICT DO NOTHING RETURNING id`;
// The index is over a keyed hash, so the time of a lookup reveals nothing about any key.
const FIND_BY_KEY_HASH = `SELECT ${COLUMNS} FROM tokens WHERE key_hash = $1`;
const FIND = `SELECT ${COLUMNS} FROM tokens WHERE id = $1`;
const LIST = `SELECT ${COLUMNS} FROM tokens ORDER BY created_at, id LIMIT $1`;
const LIST_OF_ACCOUNT = `SELECT ${COLUMNS} FROM tokens WHERE account_id = $2 ORDER BY created_at, id LIMIT $1`;
const REVOKE = `UPDATE tokens SET revoked_at = COALESCE(revoked_at, $1) WHERE id = $2 RETURNING ${COLUMNS}`;

export function sqlTokenStore(sql: Sql): TokenStore {
  return {
    insert: async ({ token, keyHash, origin = null }) => {
      const { id, accountId, name, models, limit = null, createdAt, expiresAt = null, limits } = token;
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
        keyHash,
        origin,
      ]);
      return made.length > 0;
    },
    findByKeyHash: async (keyHash) => {
      const [row] = await sql.read<TokenRow>(FIND_BY_KEY_HASH, [keyHash]);
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
  };
}

function time(value: Whole | null): number | undefined {
  return value === null ? undefined : Number(value);
}
