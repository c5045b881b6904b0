import { fromBinary } from '@bufbuild/protobuf';
import type { DescMessage } from '@bufbuild/protobuf';
import { AckPolicy, nanos } from 'nats';
import type { ConsumerMessages, JetStreamClient, JetStreamManager, JsMsg } from 'nats';
import type { Handler, Subscription } from './bus.ts';
import { inProcessSpan } from './bus-span.ts';
import type { Redeliveries } from './bus-metrics.ts';
import type { BusSettings } from './bus-settings.ts';
import { RECONNECT_MS } from './nats-connection.ts';
import { STREAM, ensureStream } from './nats-stream.ts';
import { systemClock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { TraceContinuer } from '../trace/trace.ts';

/** The header of an event with the carrier of its span. */
export const TRACE_HEADER = 'traceparent';
/** Ten minutes of two seconds each: longer than any handler takes. */
const CLAIMS_MAX = 300;
/** The pauses between two renewals of the subscriptions grow up to this many times the first one. */
const RENEWAL_PAUSES = 10;
const REDELIVERY_MS = 1000;
const DELIVERIES_MAX = 20;
const PENDING_ACKS_MAX = 256;
/** A pull request ends after this time. A server that is silent for half of it twice is asked again. */
const PULL_MS = 6000;
/** The server uses this header to drop an event that it has already. */
const ID_HEADER = 'Nats-Msg-Id';

export interface Wiring {
  readonly manager: JetStreamManager;
  readonly stream: JetStreamClient;
  readonly settings: BusSettings;
  readonly log: Log;
  readonly ackWaitMs: number;
  readonly tracing: TraceContinuer;
  readonly redeliveries: Redeliveries;
}
/** A durable consumer on the server. */
export interface Durable {
  readonly name: string;
  readonly subject: string;
  readonly group: string;
}
/** `renew` consumes again, and creates the consumer if it is gone. */
export interface Renewable extends Subscription {
  renew(): Promise<void>;
}
interface Subscriber<S extends DescMessage> {
  readonly schema: S;
  readonly handle: Handler<S>;
}

/** Makes the stream and the consumers that are missing. */
async function ensureConsumer({ manager, ackWaitMs }: Wiring, { name, subject }: Durable): Promise<void> {
  await manager.consumers.add(STREAM, {
    durable_name: name,
    filter_subject: subject,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(ackWaitMs),
    max_deliver: DELIVERIES_MAX,
    max_ack_pending: PENDING_ACKS_MAX,
  });
}

/**
 * Runs after each reconnection, because the server can have lost its store. Repeats until the next one, because a
 * cluster without its majority does not answer.
 */
export async function renewAll(
  wiring: Wiring,
  subscriptions: readonly Renewable[],
  connected: () => boolean,
): Promise<void> {
  for (let tries = 1; connected(); tries += 1) {
    try {
      await ensureStream(wiring.manager, wiring.settings, wiring.log);
      for (const subscription of subscriptions) await subscription.renew();
      return;
    } catch (error) {
      wiring.log.warn({ tries, err: error }, 'the stream and its consumers could not be ensured');
      await systemClock.sleep(RECONNECT_MS * Math.min(tries, RENEWAL_PAUSES));
    }
  }
}

export async function subscribeTo<S extends DescMessage>(
  wiring: Wiring,
  durable: Durable,
  { schema, handle }: Subscriber<S>,
): Promise<Renewable> {
  const { stream, log, ackWaitMs, tracing, redeliveries } = wiring;
  const running = new Set<Promise<void>>();
  const handleOne = async (received: JsMsg): Promise<void> => {
    const over = new AbortController();
    void renewClaim(received, ackWaitMs, over.signal);
    if (received.redelivered) redeliveries.count(durable.name);
    try {
      const { carrier, ...event } = describeDelivery(received, durable);
      await inProcessSpan(tracing, carrier, event, (span) => handle(fromBinary(schema, received.data), span));
      received.ack();
    } catch (error) {
      log.warn(
        { subject: received.subject, delivery: received.info.deliveryCount, err: error },
        'an event was not handled',
      );
      received.nak(REDELIVERY_MS * received.info.deliveryCount);
    } finally {
      over.abort();
    }
  };
  const begin = async (): Promise<ConsumerMessages> => {
    await ensureConsumer(wiring, durable);
    const messages = await (
      await stream.consumers.get(STREAM, durable.name)
    ).consume({ max_messages: PENDING_ACKS_MAX, expires: PULL_MS });
    void takeAll(messages, (received) => {
      const work = handleOne(received);
      running.add(work);
      void work.finally(() => running.delete(work));
    });
    return messages;
  };
  redeliveries.begin(durable.name);
  let messages = await begin();
  let stopped = false;
  return {
    renew: async () => {
      if (stopped) return;
      const before = messages;
      messages = await begin();
      await before.close();
      // the subscription was stopped meanwhile
      if (stopped) await messages.close();
    },
    stop: async () => {
      stopped = true;
      await messages.close();
      await Promise.all(running);
    },
  };
}

/** Tells the server at intervals that the event is still being handled. */
async function renewClaim(received: JsMsg, ackWaitMs: number, over: AbortSignal): Promise<void> {
  for (let claims = 0; claims < CLAIMS_MAX; claims += 1) {
    await systemClock.sleep(ackWaitMs / 3, over);
    if (over.aborted) return;
    try {
      received.working();
    } catch {
      // without a connection the server delivers the event again
      return;
    }
  }
}

/** The server sends at most `max_ack_pending` unacknowledged events, which bounds the number of concurrent handlers. */
async function takeAll(messages: ConsumerMessages, take: (received: JsMsg) => void): Promise<void> {
  for await (const received of messages) take(received);
}

/** Returns the facts that the span of a delivery records, and the carrier of the event. */
function describeDelivery({ headers: sent, info }: JsMsg, { subject, group }: Durable) {
  return {
    system: 'nats',
    subject,
    group,
    id: sent?.get(ID_HEADER).replace(`${subject} `, ''),
    carrier: sent?.get(TRACE_HEADER),
    delivery: info.deliveryCount,
  } as const;
}
