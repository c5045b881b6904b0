import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import type { Log } from '../log.ts';
import type { Span } from '../trace/trace.ts';

/**
 * Handles an event, which is done when the handler resolves. If the handler throws, the event is delivered again later.
 * The span is the span of this delivery.
 */
export type Handler<S extends DescMessage> = (message: MessageShape<S>, span: Span) => Promise<void>;

/** The id of an event, and the carrier of the work that it reports, undefined if that work is not recorded. */
export interface EventName {
  readonly id: string;
  readonly carrier?: string | undefined;
}

export interface Subscription {
  /** Accepts no more events. Resolves when the running handlers have ended. */
  stop(): Promise<void>;
}

export interface EventPublisher {
  /** Resolves when the event is stored. A second event with the same id within two minutes is dropped. */
  publish<S extends DescMessage>(schema: S, message: MessageShape<S>, event: string | EventName): Promise<void>;
}

/** The events that are not handled yet. */
export interface EventBacklog {
  /** The numbers by group, for each group of which this process is a member. */
  pending(): Promise<ReadonlyMap<string, number>>;
}

/**
 * Carries events between services. The subject is the full name of the message. `publish` and `subscribe` deliver at
 * least once to each named group, to one member at a time. `announce` and `listen` reach every current listener, but an
 * announcement can be lost.
 */
export interface Bus extends EventPublisher, EventBacklog {
  subscribe<S extends DescMessage>(schema: S, group: string, handle: Handler<S>): Promise<Subscription>;
  announce<S extends DescMessage>(schema: S, message: MessageShape<S>): void;
  listen<S extends DescMessage>(schema: S, handle: (message: MessageShape<S>) => void): Promise<Subscription>;
  /**
   * The number of the present connection. Between two calls that return the same number, every announcement has reached
   * the listeners of this process. Undefined without a connection.
   */
  connection(): number | undefined;
  ready(): boolean;
  /** Stops every subscription, and waits for the running handlers. */
  close(): Promise<void>;
}

/** Names an event, by its id alone if its work cannot be recorded. */
export function toEventName(event: string | EventName): EventName {
  return typeof event === 'string' ? { id: event } : event;
}

/** Calls one listener. Its error does not affect the other listeners. */
export function callListener(call: () => void, log: Log): void {
  try {
    call();
  } catch (error) {
    log.error({ err: error }, 'a listener failed');
  }
}
