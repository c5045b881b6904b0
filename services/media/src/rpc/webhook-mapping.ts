import type { WholeMessage } from '@reelgate/platform/rpc/service';
import { Problem } from '@reelgate/platform/problem';
import type { SendWebhookRequest, SendWebhookResponseSchema } from '@reelgate/proto/media/v1/media_service';
import { findHeadersFault } from '../domain/webhook-headers.ts';
import type { SentWebhook, WebhookOrder } from '../fetch/webhooks/webhook-sender.ts';

export function fromWireWebhook({ accountId, url, headers, body, timeoutMs }: SendWebhookRequest): WebhookOrder {
  const fault = findHeadersFault(headers);
  if (fault !== undefined)
    throw new Problem({ kind: 'invalid', reason: 'invalid_request', field: 'headers', message: fault });
  return {
    accountId,
    url,
    headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])),
    body,
    timeoutMs: Number(timeoutMs),
  };
}

export function toWireSent({
  status,
  fault,
  durationMs,
  retryAfterMs,
  answerHead,
}: SentWebhook): WholeMessage<typeof SendWebhookResponseSchema> {
  return {
    statusCode: status,
    fault: fault ?? '',
    durationMs: BigInt(Math.round(durationMs)),
    retryAfterMs: BigInt(Math.round(retryAfterMs)),
    answerHead: new Uint8Array(answerHead),
  };
}
