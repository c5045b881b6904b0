import type { Span, Tracing } from '@reelgate/platform/trace/trace';
import { NO_SPAN } from '@reelgate/platform/trace/trace';
import type { DueDelivery, LeasedReceiver, DeliveryAttempt } from '../clients/webhook-work-client.ts';

const NAME = 'deliver webhook';

/** Names a delivery in a log line. The URL and the signature stay out of it. */
export function deliveryFields({ id, attempt, event }: DueDelivery): object {
  return { taskId: findTaskId(event), eventId: event.id, deliveryId: id, attempt };
}

/**
 * Begins the span of an attempt, in the trace of the task or job that the event is about. Deliveries of old work have
 * traces of their own, linked to the first. Work that is not recorded has no span.
 */
export function beginDelivery(
  tracing: Tracing,
  { accountId }: LeasedReceiver,
  { id, attempt, event, origin: { trace, linkedTrace } }: DueDelivery,
): Span {
  const attributes = {
    'reelgate.task.id': findTaskId(event),
    'reelgate.account.id': accountId,
    'reelgate.event.id': event.id,
    'reelgate.event.type': event.type,
    'reelgate.webhook.delivery.id': id,
    'reelgate.webhook.attempt': attempt,
  };
  if (trace !== undefined) return tracing.enter(trace).child(NAME, { kind: 'client', attributes });
  if (linkedTrace === undefined) return NO_SPAN;
  return tracing.root(NAME, {
    kind: 'client',
    class: 'work',
    attributes: { ...attributes, 'reelgate.link.type': 'continues' },
    links: [linkedTrace],
  });
}

/** Ends the span with what the receiver answered. */
export function endDelivery(span: Span, { status, error }: DeliveryAttempt): void {
  if (status !== 0) span.set({ 'http.response.status_code': status });
  if (error !== '') span.fail(error);
  span.end();
}

/** Returns undefined for an event about an account. */
function findTaskId({ type, subjectId }: DueDelivery['event']): string | undefined {
  return type.startsWith('balance.') ? undefined : subjectId;
}
