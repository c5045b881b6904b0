import type { Token } from '@reelgate/proto/billing/v1/account_service';
import type { TokenLimits } from '@reelgate/proto/billing/v1/token_limits';
import { TokenRight } from '@reelgate/proto/billing/v1/token_right';
import { WebhookRight } from '@reelgate/proto/billing/v1/webhook_right';
import { formatNanos } from './amount.ts';
import { isoTime } from './times.ts';

export const WEBHOOK_RIGHTS: Readonly<Record<string, WebhookRight>> = {
  write: WebhookRight.WRITE,
  read: WebhookRight.READ,
  none: WebhookRight.NONE,
};

export const TOKEN_RIGHTS: Readonly<Record<string, TokenRight>> = {
  write: TokenRight.WRITE,
  read: TokenRight.READ,
  none: TokenRight.NONE,
};

export function webhookRightName(right: WebhookRight): string {
  return findRightName(WEBHOOK_RIGHTS, right);
}

export function tokenRightName(right: TokenRight): string {
  return findRightName(TOKEN_RIGHTS, right);
}

export function toTokenJson(token: Token): object {
  return {
    token_id: token.id,
    account: token.accountId,
    name: token.name,
    models: token.models,
    limit: token.limitNanos === undefined ? undefined : formatNanos(token.limitNanos),
    used: formatNanos(token.usedNanos),
    created_at: isoTime(token.createdAt),
    expires_at: isoTime(token.expiresAt),
    revoked_at: isoTime(token.revokedAt),
    ...toLimitsJson(token.limits),
    webhooks: webhookRightName(token.webhooks) || undefined,
    tokens: tokenRightName(token.tokens) || undefined,
    made_by: token.madeByTokenId || undefined,
    last_charged_at: isoTime(token.lastChargedAt),
  };
}

/** Zero means the configured limit. */
function toLimitsJson(limits: TokenLimits | undefined): object {
  return {
    creates_per_minute: limits?.createsPerMinute || undefined,
    reads_per_minute: limits?.readsPerMinute || undefined,
    calls_per_minute: limits?.callsPerMinute || undefined,
    in_flight: limits?.inFlight || undefined,
  };
}

function findRightName<R>(rights: Readonly<Record<string, R>>, right: R): string {
  return Object.entries(rights).find(([, each]) => each === right)?.[0] ?? '';
}
