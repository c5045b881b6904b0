import { buildInsert } from '@reelgate/platform/sql/named-values';
import type { SqlInteger, SqlStatement } from '@reelgate/platform/sql/sql';
import type { Token, TokenQueue, TokenRight, WebhookRight } from '../../domain/token.ts';
import type { NewToken } from './token-store.ts';

export type TokenRow = {
  id: string;
  account_id: string;
  name: string;
  models: string;
  limit_nanos: SqlInteger | null;
  used_nanos: SqlInteger;
  created_at: SqlInteger;
  expires_at: SqlInteger | null;
  revoked_at: SqlInteger | null;
  creates_per_minute: number | null;
  reads_per_minute: number | null;
  calls_per_minute: number | null;
  in_flight: number | null;
  webhooks: WebhookRight;
  token_right: TokenRight;
  made_by_token_id: string | null;
  queue_wait: TokenQueue['wait'];
  queue_class: TokenQueue['class'];
  label: string;
  hint: string;
  confirm_above_nanos: SqlInteger | null;
};

const COLUMNS = [
  'id',
  'account_id',
  'name',
  'models',
  'limit_nanos',
  'used_nanos',
  'created_at',
  'expires_at',
  'revoked_at',
  'creates_per_minute',
  'reads_per_minute',
  'calls_per_minute',
  'in_flight',
  'webhooks',
  'token_right',
  'made_by_token_id',
  'queue_wait',
  'queue_class',
  'label',
  'hint',
  'confirm_above_nanos',
] as const satisfies readonly (keyof TokenRow)[];
export const TOKEN_COLUMNS = COLUMNS.join(', ');
const INSERT = buildInsert('tokens', [...COLUMNS, 'key_hash', 'origin'], 'ON CONFLICT DO NOTHING RETURNING id');

/** The statement that inserts an unused token. It gives no row if the id or the key is taken. */
export function insertToken({ token, keyHashes: [keyHash = ''], origin }: NewToken): SqlStatement {
  const { limits } = token;
  return INSERT({
    id: token.id,
    account_id: token.accountId,
    name: token.name,
    models: JSON.stringify(token.models),
    limit_nanos: token.limit ?? null,
    used_nanos: 0,
    created_at: token.createdAt,
    expires_at: token.expiresAt ?? null,
    revoked_at: null,
    creates_per_minute: limits.createsPerMinute ?? null,
    reads_per_minute: limits.readsPerMinute ?? null,
    calls_per_minute: limits.callsPerMinute ?? null,
    in_flight: limits.inFlight ?? null,
    webhooks: token.webhooks,
    token_right: token.tokens,
    made_by_token_id: token.madeByTokenId ?? null,
    queue_wait: token.queue.wait,
    queue_class: token.queue.class,
    label: token.label,
    hint: token.hint,
    confirm_above_nanos: token.confirmAbove ?? null,
    key_hash: keyHash,
    origin: origin ?? null,
  });
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
    webhooks: row.webhooks,
    tokens: row.token_right,
    madeByTokenId: row.made_by_token_id ?? undefined,
    queue: { wait: row.queue_wait, class: row.queue_class },
    label: row.label,
    hint: row.hint,
    confirmAbove: row.confirm_above_nanos === null ? undefined : BigInt(row.confirm_above_nanos),
  };
}

export function toTime(value: SqlInteger | null): number | undefined {
  return value === null ? undefined : Number(value);
}
