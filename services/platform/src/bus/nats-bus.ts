import { fromBinary, toBinary } from '@bufbuild/protobuf';
import type { DescMessage } from '@bufbuild/protobuf';
import { AckPolicy, Events, RetentionPolicy, StorageType, connect, nanos } from 'nats';
import type { ConsumerMessages, JetStreamClient, JetStreamManager, JsMsg, NatsConnection, StreamConfig } from 'nats';
import { tell } from './bus.ts';
import type { Bus, Handler, Subscription } from './bus.ts';
import { systemClock } from '../clock.ts';
import type { Log } from '../log.ts';

const STREAM = 'REELGATE';
const SUBJECTS = ['reelgate.>'];
const ANNOUNCE_PREFIX = 'announce.';
const KEEP_MS = 7 * 24 * 3600 * 1000;
const DUPLICATE_WINDOW_MS = 120_000;
const ACK_WAIT_MS = 30_000;
/** Ten minutes of ten seconds each: longer than any handler takes. */
const CLAIMS_MAX = 60;
const RENEWALS_MAX = 60;
const REDELIVERY_MS = 1000;
const DELIVERIES_MAX = 20;
const PENDING_ACKS_MAX = 256;
const CONNECT_TIMEOUT_MS = 5000;
const RECONNECT_MS = 500;
const DRAIN_MS_MAX = 5000;

/**
 * NATS: JetStream for published events, plain subjects for announcements. It reconnects by itself while it is open. If
 * a server comes back without its store, the stream and its consumers are made again. The event of a slow handler is
 * not delivered again meanwhile.
 */
export async function openNatsBus(url: string, log: Log, ackWaitMs = ACK_WAIT_MS): Promise<Bus> {
  const connection = await connect({
    servers: url.split(','),
    timeout: CONNECT_TIMEOUT_MS,
    reconnectTimeWait: RECONNECT_MS,
    maxReconnectAttempts: -1,
    name: 'reelgate',
  });
  const manager = await openManager(connection);
  const wiring: Wiring = { manager, stream: connection.jetstream(), log, ackWaitMs };
  const { stream } = wiring;
  const subscriptions: Renewable[] = [];
  let connected = true;
  let renewal = Promise.resolve();
  void followStatus(connection, (now) => {
    connected = now;
    if (now) renewal = renewal.then(() => renewAll(wiring, subscriptions, () => connection.isClosed()));
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

/** Refuses a server without JetStream, and closes the connection to it. */
async function openManager(connection: NatsConnection): Promise<JetStreamManager> {
  try {
    const manager = await connection.jetstreamManager();
    await ensureStream(manager);
    return manager;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function ensureStream(manager: JetStreamManager): Promise<void> {
  const config: Partial<StreamConfig> = {
    name: STREAM,
    subjects: SUBJECTS,
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    max_age: nanos(KEEP_MS),
    duplicate_window: nanos(DUPLICATE_WINDOW_MS),
  };
  try {
    await manager.streams.info(STREAM);
  } catch {
    await manager.streams.add(config);
  }
}

interface Wiring {
  readonly manager: JetStreamManager;
  readonly stream: JetStreamClient;
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

/** Runs after each reconnection, because the server can have lost its store. */
async function renewAll(wiring: Wiring, subscriptions: readonly Renewable[], closed: () => boolean): Promise<void> {
  for (let tries = 1; tries <= RENEWALS_MAX && !closed(); tries += 1) {
    try {
      await ensureStream(wiring.manager);
      for (const subscription of subscriptions) await subscription.renew();
      return;
    } catch (error) {
      wiring.log.warn({ tries, err: error }, 'the stream and its consumers could not be ensured');
      await systemClock.sleep(RECONNECT_MS);
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
    ).consume({ max_messages: PENDING_ACKS_MAX });
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

/** Reports each change of the connection while the bus is open. */
async function followStatus(connection: NatsConnection, tellNow: (connected: boolean) => void): Promise<void> {
  for await (const { type } of connection.status()) {
    if (type === Events.Disconnect) tellNow(false);
    else if (type === Events.Reconnect) tellNow(true);
  }
}
