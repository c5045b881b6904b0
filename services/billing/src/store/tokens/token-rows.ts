import type { Token, TokenRight, WebhookRight } from '../../domain/token.ts';
import type { NewToken } from './token-store.ts';
import type { SqlValue } from '@reelgate/platform/sql/sql';

type Whole = number | bigint;
export type TokenRow = {
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
  token_right: TokenRight | null;
  made_by_token_id: string | null;
};

export const TOKEN_COLUMNS = `id, account_id, name, models, limit_nanos, used_nanos, created_at, expires_at, revoked_at,
  creates_per_minute, reads_per_minute, calls_per_minute, in_flight, webhooks, token_right, made_by_token_id`;
export const INSERT_TOKEN = `INSERT INTO tokens (${TOKEN_COLUMNS}, key_hash, origin)
  VALUES ($1, $2, $3, $4, $5, 0, $6, $7, NULL, $8, $9, $10, $11, $12, $13, $14, $15, $16)
  ON CONFLICT DO NOTHING RETURNING id`;

/** In the order of INSERT_TOKEN. */
export function toTokenRow({ token, keyHashes: [keyHash = ''], origin }: NewToken): SqlValue[] {
  const { id, accountId, name, models, limit = null, createdAt, expiresAt = null, webhooks, tokens } = token;
  const { createsPerMinute = null, readsPerMinute = null, callsPerMinute = null, inFlight = null } = token.limits;
  return [
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
    tokens,
    token.madeByTokenId ?? null,
    keyHash,
    origin ?? null,
  ];
}

export function toToken(row: TokenRow): Token {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    models: JSON.parse(row.models) as string[],
    used: BigInt(row.used_nanos),
    limit: row.limit_nanos === null ? undefined : BigInt(row.limit_nanos),
    createdAt: Number(row.created_at),
    expiresAt: toTime(row.expires_at),
    revokedAt: toTime(row.revoked_at),
    limits: {
      createsPerMinute: row.creates_per_minute ?? undefined,
      readsPerMinute: row.reads_per_minute ?? undefined,
      callsPerMinute: row.calls_per_minute ?? undefined,
      inFlight: row.in_flight ?? undefined,
    },
    webhooks: row.webhooks ?? 'write',
    tokens: row.token_right ?? 'none',
    madeByTokenId: row.made_by_token_id ?? undefined,
  };
}

function toTime(value: Whole | null): number | undefined {
  return value === null ? undefined : Number(value);
}
