import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import type { Log } from '../log.ts';

/** What a handler throws is delivered again later; what it resolves is done. */
export type Handler<S extends DescMessage> = (message: MessageShape<S>) => Promise<void>;

export interface Subscription {
  /** Takes no more; resolves when the handlers that run have ended. */
  stop(): Promise<void>;
}

/**
 * Carries events between services. The subject is the message's full name.
 * `publish` and `subscribe` deliver at least once to each named group, one member of it at a time; `announce` and `listen` reach
 * everybody who listens now, and may be lost.
 */
export interface Bus {
  /** Resolves when the event is kept. The id names it: a second one with the same id within two minutes is dropped. */
  publish<S extends DescMessage>(schema: S, message: MessageShape<S>, id: string): Promise<void>;
  subscribe<S extends DescMessage>(schema: S, group: string, handle: Handler<S>): Promise<Subscription>;
  announce<S extends DescMessage>(schema: S, message: MessageShape<S>): void;
  listen<S extends DescMessage>(schema: S, handle: (message: MessageShape<S>) => void): Promise<Subscription>;
  ready(): boolean;
  /** Stops every subscription, and with it waits for the handlers that run. */
  close(): Promise<void>;
}

/** Calls one listener; what it throws hurts nobody else. */
export function tell<M>(listener: (message: M) => void, message: M, log: Log): void {
  try {
    listener(message);
  } catch (error) {
    log.error({ err: error }, 'a listener failed');
  }
}
