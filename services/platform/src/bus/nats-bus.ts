import { fromBinary, toBinary } from '@bufbuild/protobuf';
import type { DescMessage } from '@bufbuild/protobuf';
import { AckPolicy, nanos } from 'nats';
import type { ConsumerMessages, JetStreamClient, JetStreamManager, JsMsg, NatsConnection } from 'nats';
import { tell } from './bus.ts';
import type { Bus, Handler, Subscription } from './bus.ts';
import type { BusSettings } from './bus-settings.ts';
import { RECONNECT_MS, connectNats, followStatus } from './nats-connection.ts';
import { STREAM, ensureStream } from './nats-stream.ts';
import { systemClock } from '../clock.ts';
import type { Log } from '../log.ts';

const ANNOUNCE_PREFIX = 'announce.';
const ACK_WAIT_MS = 30_000;
/** Ten minutes of ten seconds each: longer than any handler takes. */
const CLAIMS_MAX = 60;
/** The pauses between two renewals of the subscriptions grow up to this many times the first one. */
const RENEWAL_PAUSES = 10;
const REDELIVERY_MS = 1000;
const DELIVERIES_MAX = 20;
const PENDING_ACKS_MAX = 256;
/** A pull request ends after this time; a server that is silent for half of it twice is asked again. */
const PULL_MS = 6000;
const DRAIN_MS_MAX = 5000;

/**
 * NATS: JetStream for published events, plain subjects for announcements. It reconnects by itself while it is open. If
 * a server comes back without its store, the stream and its consumers are made again. The event of a slow handler is
 * not delivered again meanwhile.
 */
export async function openNatsBus(settings: BusSettings, log: Log, ackWaitMs = ACK_WAIT_MS): Promise<Bus> {
  const connection = await connectNats(settings);
  const manager = await openManager(connection, settings, log);
  const wiring: Wiring = { manager, stream: connection.jetstream(), settings, log, ackWaitMs };
  const { stream } = wiring;
  const subscriptions: Renewable[] = [];
  let connected = true;
  let renewal = Promise.resolve();
  void followStatus(connection, (now) => {
    connected = now;
    if (now) renewal = renewal.then(() => renewAll(wiring, subscriptions, () => connected && !connection.isClosed()));
  });

  return {
    publish: async (schema, message, id) => {
      await stream.publish(schema.typeName, toBinary(schema, message), { msgID: `${schema.typeName} ${id}` });
    },
    subscribe: async (schema, group, handle) => {
      const durable = { name: `${group}-${schema.typeName.replaceAll('.', '-')}`, subject: schema.typeName };
      const subscription = await subscribe(wiring, durable, { schema, handle });
      subscriptions.push(subscription);
      return subscription;
    },
    announce: (schema, message) => {
      if (!connection.isClosed()) connection.publish(ANNOUNCE_PREFIX + schema.typeName, toBinary(schema, message));
    },
    listen: async (schema, handle) => {
      const subscription = connection.subscribe(ANNOUNCE_PREFIX + schema.typeName, {
        callback: (error, received) => {
          if (error === null)
            tell(
              (data: Uint8Array) => {
                handle(fromBinary(schema, data));
              },
              received.data,
              log,
            );
        },
      });
      await connection.flush();
      return {
        stop: async () => {
          subscription.unsubscribe();
        },
      };
    },
    ready: () => connected && !connection.isClosed() && !connection.isDraining(),
    close: async () => {
      await Promise.all(subscriptions.map((subscription) => subscription.stop()));
      if (connected) await drain(connection);
      await connection.close();
    },
  };
}

/** What a server refuses for good: a repeat would not change it. */
const REFUSED: ReadonlySet<string> = new Set([
  'AUTHORIZATION_VIOLATION',
  'AUTHENTICATION_EXPIRED',
  'AUTHENTICATION_TIMEOUT',
  'ACCOUNT_EXPIRED',
  'BAD_AUTHENTICATION',
  'BAD_CREDS',
]);
const NETWORK = /^(ECONN|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_AGAIN|EPIPE)/;

/** Whether opening the bus failed because its server is away, starts, or has no leader yet. */
export function isBusAway(error: unknown): boolean {
  const { name, code } = error as Partial<Error & { readonly code: unknown }>;
  return name === 'NatsError' ? !REFUSED.has(String(code)) : NETWORK.test(String(code));
}

/** Refuses a server without JetStream, and closes the connection to it. */
async function openManager(connection: NatsConnection, settings: BusSettings, log: Log): Promise<JetStreamManager> {
  try {
    const manager = await connection.jetstreamManager();
    await ensureStream(manager, settings, log);
    return manager;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

interface Wiring {
  readonly manager: JetStreamManager;
  readonly stream: JetStreamClient;
  readonly settings: BusSettings;
  readonly log: Log;
  readonly ackWaitMs: number;
}
/** A durable consumer on the server. */
interface Durable {
  readonly name: string;
  readonly subject: string;
}
/** `renew` consumes again, and makes the consumer if it is gone. */
interface Renewable extends Subscription {
  renew(): Promise<void>;
}
interface Listening<S extends DescMessage> {
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
 * cluster without its majority answers nothing.
 */
async function renewAll(wiring: Wiring, subscriptions: readonly Renewable[], connected: () => boolean): Promise<void> {
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

async function subscribe<S extends DescMessage>(
  wiring: Wiring,
  durable: Durable,
  { schema, handle }: Listening<S>,
): Promise<Renewable> {
  const { stream, log, ackWaitMs } = wiring;
  const running = new Set<Promise<void>>();
  const handleOne = async (received: JsMsg): Promise<void> => {
    const over = new AbortController();
    void keepClaimed(received, ackWaitMs, over.signal);
    try {
      await handle(fromBinary(schema, received.data));
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
async function keepClaimed(received: JsMsg, ackWaitMs: number, over: AbortSignal): Promise<void> {
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

/** The server sends at most `max_ack_pending` unacknowledged events, which bounds the handlers that run at once. */
async function takeAll(messages: ConsumerMessages, take: (received: JsMsg) => void): Promise<void> {
  for await (const received of messages) take(received);
}

/** Sends pending announcements, with a time limit in case the server is gone. */
async function drain(connection: NatsConnection): Promise<void> {
  if (connection.isClosed() || connection.isDraining()) return;
  const done = new AbortController();
  await Promise.race([connection.drain(), systemClock.sleep(DRAIN_MS_MAX, done.signal)]);
  done.abort();
}
