import { Problem } from '@reelgate/platform/problem';
import type { WebhookCaller } from '../../clients/webhooks-client.ts';
import type { Exchange } from '../exchange.ts';
import { requirePrincipal } from '../exchange.ts';

const REFUSALS = {
  read: 'this token may not read webhooks; use a token with the right webhooks: read or write',
  write: 'this token may not change webhooks; use a token with the right webhooks: write',
} as const;

/** The caller, if its token may read or change webhooks; otherwise refuses with a Problem. */
export function requireWebhookCaller(exchange: Exchange, use: keyof typeof REFUSALS): WebhookCaller {
  const { accountId, webhooks } = requirePrincipal(exchange);
  if (webhooks !== 'write' && webhooks !== use)
    throw new Problem({ kind: 'forbidden', reason: 'webhooks_not_allowed', message: REFUSALS[use] });
  const { requestId, span } = exchange.state;
  return { accountId, requestId, span };
}
