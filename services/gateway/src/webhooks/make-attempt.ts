import type { Clock } from '@reelgate/platform/clock';
import type { Span } from '@reelgate/platform/trace/trace';
import { signDelivery } from '@reelgate/platform/webhooks/sign';
import type { WebhookAnswer, WebhookSender } from '../clients/webhook-sender.ts';
import type { DueDelivery, LeasedReceiver, DeliveryAttempt } from '../clients/webhook-work-client.ts';

/** Maximum time that a receiver may take. */
const TIMEOUT_MS = 15_000;

export interface AttemptOptions {
  readonly receiver: LeasedReceiver;
  readonly delivery: DueDelivery;
  readonly body: Uint8Array;
  /** The count of the receiver's circuit. */
  readonly circuit: number;
  /** Cuts the attempt off. */
  readonly signal: AbortSignal;
  readonly span: Span;
}

/** Signs a delivery and sends it. Throws a Problem if it could not be sent, which is no fault of the receiver. */
export async function makeAttempt(
  { sender, clock }: { readonly sender: WebhookSender; readonly clock: Clock },
  { receiver: { accountId, secrets }, delivery, body, circuit, ...call }: AttemptOptions,
): Promise<DeliveryAttempt> {
  const at = clock.now();
  const signed = { id: delivery.event.id, timestamp: Math.floor(at / 1000), body };
  const requestHeaders = {
    'content-type': 'application/json',
    'webhook-id': signed.id,
    'webhook-timestamp': String(signed.timestamp),
  };
  const headers = { ...requestHeaders, 'webhook-signature': signDelivery(secrets, signed) };
  const answer = await sender.send({ accountId, url: delivery.url, headers, body, timeoutMs: TIMEOUT_MS }, call);
  return {
    deliveryId: delivery.id,
    number: delivery.attempt,
    at,
    durationMs: answer.durationMs,
    status: answer.status,
    error: toAttemptError(answer),
    requestHeaders,
    answerHead: answer.answerHead,
    retryAfterMs: answer.retryAfterMs,
    circuit,
  };
}

/** Returns an attempt that can never be sent: it fails like any other, so that its delivery ends. */
export function newUnsentAttempt(
  { id, attempt }: DueDelivery,
  { at, circuit }: { readonly at: number; readonly circuit: number },
): DeliveryAttempt {
  return {
    deliveryId: id,
    number: attempt,
    at,
    durationMs: 0,
    status: 0,
    error: 'not_sent',
    requestHeaders: {},
    answerHead: '',
    retryAfterMs: 0,
    circuit,
  };
}

function toAttemptError({ status, fault }: WebhookAnswer): string {
  if (fault !== '') return fault;
  if (status >= 200 && status < 300) return '';
  return status >= 300 && status < 400 ? 'redirect' : 'status';
}
