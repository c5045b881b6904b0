import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Clock } from '@reelgate/platform/clock';
import type { Secret } from '@reelgate/platform/secret';
import type { Span, Tracing } from '@reelgate/platform/trace/trace';
import { NO_SPAN } from '@reelgate/platform/trace/trace';
import { signDelivery } from '@reelgate/platform/webhooks/sign';
import type { SendWebhookResponse } from '@reelgate/proto/media/v1/media_service';
import { WebhookAttemptSchema } from '@reelgate/proto/tasks/v1/webhook';
import type { Event, WebhookAttempt } from '@reelgate/proto/tasks/v1/webhook';
import { MadeWebhookAttemptSchema } from '@reelgate/proto/tasks/v1/webhook_service';
import type {
  DueWebhookDelivery,
  LeasedWebhookReceiver,
  MadeWebhookAttempt,
} from '@reelgate/proto/tasks/v1/webhook_service';
import type { SenderClient } from '../clients/gateway-clients.ts';
import { refuse } from '../refusals.ts';

const SPAN_NAME = 'deliver webhook';
/** Maximum time that a receiver may take. */
const TIMEOUT_MS = 15_000;
/** The answer of media comes a little after the end of the exchange. */
const DEADLINE_MARGIN_MS = 2000;
/** Media had no connection free. This is not a fault of the receiver. */
const BUSY = 'busy';
/** A database refuses this character, and it is invisible. */
const NUL = /\0/g;
const REPLACEMENT = '\ufffd';

/** A delivery that is to be attempted now. */
export type DueDelivery = DueWebhookDelivery & { readonly event: Event };

/** A receiver that this process serves while it renews the lease. Each secret signs. */
export type LeasedReceiver = Omit<LeasedWebhookReceiver, 'secrets' | 'deliveries'> & {
  readonly secrets: readonly Secret[];
  readonly deliveries: readonly DueDelivery[];
};

/** A request to a receiver, with the count of its circuit when it began. */
export type MadeAttempt = MadeWebhookAttempt & { readonly attempt: WebhookAttempt; readonly circuit: bigint };

export interface AttemptOptions {
  readonly receiver: LeasedReceiver;
  readonly delivery: DueDelivery;
  readonly body: Uint8Array;
  /** The count of the receiver's circuit. */
  readonly circuit: bigint;
  /** Cuts the attempt off. */
  readonly signal: AbortSignal;
  readonly span: Span;
}

/**
 * Signs a delivery and sends it over the guarded connections of the media service. A receiver that cannot be reached is
 * a failed attempt. Throws a Problem if media could not send it, which is no fault of the receiver.
 */
export async function makeAttempt(
  { sender, clock }: { readonly sender: SenderClient; readonly clock: Clock },
  { receiver: { accountId, secrets }, delivery, body, circuit, ...call }: AttemptOptions,
): Promise<MadeAttempt> {
  const at = clock.now();
  const signed = { id: delivery.event.id, timestamp: Math.floor(at / 1000), body };
  const requestHeaders = {
    'content-type': 'application/json',
    'webhook-id': signed.id,
    'webhook-timestamp': String(signed.timestamp),
  };
  const sent = { ...requestHeaders, 'webhook-signature': signDelivery(secrets, signed) };
  const headers = Object.entries(sent).map(([name, value]) => ({ name, value }));
  const answer = await sender.sendWebhook(
    { accountId, url: delivery.url, headers, body, timeoutMs: BigInt(TIMEOUT_MS) },
    { ...call, timeoutMs: TIMEOUT_MS + DEADLINE_MARGIN_MS },
  );
  if (answer.fault === BUSY) throw refuse('media_busy');
  const { statusCode, durationMs, retryAfterMs } = answer;
  const answerHead = Buffer.from(answer.answerHead).toString('utf8').replace(NUL, REPLACEMENT);
  const error = toAttemptError(answer);
  return newAttempt(
    delivery,
    { circuit, retryAfterMs },
    { at: timestampFromMs(at), durationMs, statusCode, error, requestHeaders, answerHead },
  );
}

/** Returns an attempt that can never be sent: it fails like any other, so that its delivery ends. */
export function newUnsentAttempt(
  delivery: DueDelivery,
  { at, circuit }: { readonly at: number; readonly circuit: bigint },
): MadeAttempt {
  return newAttempt(delivery, { circuit }, { at: timestampFromMs(at), error: 'not_sent' });
}

function newAttempt(
  { deliveryId, attempt: number }: DueDelivery,
  { circuit, retryAfterMs = 0n }: { readonly circuit: bigint; readonly retryAfterMs?: bigint },
  attempt: Exclude<MessageInitShape<typeof WebhookAttemptSchema>, WebhookAttempt>,
): MadeAttempt {
  return {
    ...create(MadeWebhookAttemptSchema, { deliveryId, retryAfterMs }),
    circuit,
    attempt: create(WebhookAttemptSchema, { number, ...attempt }),
  };
}

function toAttemptError({ statusCode, fault }: SendWebhookResponse): string {
  if (fault !== '') return fault;
  if (statusCode >= 200 && statusCode < 300) return '';
  return statusCode >= 300 && statusCode < 400 ? 'redirect' : 'status';
}

/** Names a delivery in a log line. The URL and the signature stay out of it. */
export function deliveryFields({ deliveryId, attempt, event }: DueDelivery): object {
  return { taskId: findTaskId(event), eventId: event.id, deliveryId, attempt };
}

/**
 * Begins the span of an attempt, in the trace of the task or job that the event is about. Deliveries of old work have
 * traces of their own, linked to the first. Work that is not recorded has no span.
 */
export function beginDelivery(
  tracing: Tracing,
  { accountId }: LeasedReceiver,
  { deliveryId, attempt, event, trace, linkedTrace }: DueDelivery,
): Span {
  const attributes = {
    'reelgate.task.id': findTaskId(event),
    'reelgate.account.id': accountId,
    'reelgate.event.id': event.id,
    'reelgate.event.type': event.type,
    'reelgate.webhook.delivery.id': deliveryId,
    'reelgate.webhook.attempt': attempt,
  };
  if (trace !== '') return tracing.enter(trace).child(SPAN_NAME, { kind: 'client', attributes });
  if (linkedTrace === '') return NO_SPAN;
  return tracing.root(SPAN_NAME, {
    kind: 'client',
    class: 'work',
    attributes: { ...attributes, 'reelgate.link.type': 'continues' },
    links: [linkedTrace],
  });
}

/** Ends the span with the answer of the receiver. */
export function endDelivery(span: Span, { attempt: { statusCode, error } }: MadeAttempt): void {
  if (statusCode !== 0) span.set({ 'http.response.status_code': statusCode });
  if (error !== '') span.fail(error);
  span.end();
}

/** Returns undefined for an event about an account. */
function findTaskId({ type, subjectId }: Event): string | undefined {
  return type.startsWith('balance.') ? undefined : subjectId;
}
