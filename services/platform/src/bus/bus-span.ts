import type { Span, TraceContinuer } from '../trace/trace.ts';
import { inSpan } from '../trace/trace.ts';

/** The facts about an event that both kinds of bus record. */
export interface TracedEvent {
  /** The name of the bus in the conventions of OpenTelemetry. */
  readonly system: 'nats' | 'in_process';
  readonly subject: string;
  readonly id: string | undefined;
}

/** Runs the sending of an event in a span below the carrier. The event takes the carrier of that span along. */
export function inSendSpan<T>(
  tracing: TraceContinuer,
  carrier: string | undefined,
  { system, subject, id }: TracedEvent,
  send: (span: Span) => Promise<T>,
): Promise<T> {
  const attributes = { ...buildMessagingAttributes('send', system, subject), 'messaging.message.id': id };
  return inSpan(tracing.enter(carrier), `send ${subject}`, { kind: 'producer', attributes }, send);
}

/** Runs a handler in a span below the span that sent the event: one event is one unit of work. */
export function inProcessSpan<T>(
  tracing: TraceContinuer,
  carrier: string | undefined,
  event: TracedEvent & { readonly group: string; readonly delivery: number },
  handle: (span: Span) => Promise<T>,
): Promise<T> {
  const { system, subject, id, group, delivery } = event;
  const attributes = {
    ...buildMessagingAttributes('process', system, subject),
    'messaging.message.id': id,
    'messaging.consumer.group.name': group,
    'reelgate.delivery': delivery,
  };
  return inSpan(tracing.enter(carrier), `process ${subject}`, { kind: 'consumer', attributes }, handle);
}

function buildMessagingAttributes(operation: 'send' | 'process', system: string, subject: string) {
  return {
    'messaging.system': system,
    'messaging.operation.name': operation,
    'messaging.operation.type': operation,
    'messaging.destination.name': subject,
  };
}
