import { fromBinary, toBinary } from '@bufbuild/protobuf';
import type { DescMessage } from '@bufbuild/protobuf';
import { AckPolicy, Events, RetentionPolicy, StorageType, connect, nanos } from 'nats';
import type { ConsumerMessages, JetStreamClient, JetStreamManager, JsMsg, NatsConnection, StreamConfig } from 'nats';
import { tell } from './bus.ts';
import type { Bus, Handler, Subscription } from './bus.ts';
import { systemClock } from './clock.ts';
import type { Log } from './log.ts';

const STREAM = 'REELGATE';
const SUBJECTS = ['reelgate.>'];
const ANNOUNCE_PREFIX = 'announce.';
const KEEP_MS = 7 * 24 * 3600 * 1000;
const DUPLICATE_WINDOW_MS = 120_000;
const ACK_WAIT_MS = 30_000;
const REDELIVERY_MS = 1000;
const DELIVERIES_MAX = 20;
const PENDING_ACKS_MAX = 256;
const CONNECT_TIMEOUT_MS = 5000;
const RECONNECT_MS = 500;
const DRAIN_MS_MAX = 5000;

/** NATS: JetStream for what is published, plain subjects for what is announced. Reconnects by itself for as long as it is open. */
export async function openNatsBus(url: string, log: Log): Promise<Bus> {
  const connection = await connect({
    servers: url.split(','), timeout: CONNECT_TIMEOUT_MS, reconnectTimeWait: RECONNECT_MS, maxReconnectAttempts: -1, name: 'reelgate',
  });
  const manager = await connection.jetstreamManager();
  await ensureStream(manager);
  const stream = connection.jetstream();
  const subscriptions: Subscription[] = [];
  let connected = true;
  void followStatus(connection, (now) => {
    connected = now;
  });

  return {
    publish: async (schema, message, id) => {
      await stream.publish(schema.typeName, toBinary(schema, message), { msgID: `${schema.typeName} ${id}` });
    },
    subscribe: async (schema, group, handle) => {
      const subscription = await subscribe({ manager, stream, log }, { schema, group, handle });
      subscriptions.push(subscription);
      return subscription;
    },
    announce: (schema, message) => {
      if (!connection.isClosed()) connection.publish(ANNOUNCE_PREFIX + schema.typeName, toBinary(schema, message));
    },
    listen: async (schema, handle) => {
      const subscription = connection.subscribe(ANNOUNCE_PREFIX + schema.typeName, {
        callback: (error, received) => {
          if (error === null) tell((data: Uint8Array) => { handle(fromBinary(schema, data)); }, received.data, log);
        },
      });
      await connection.flush();
      return { stop: async () => { subscription.unsubscribe(); } };
    },
    ready: () => connected && !connection.isClosed() && !connection.isDraining(),
    close: async () => {
      await Promise.all(subscriptions.map((subscription) => subscription.stop()));
      if (connected) await drain(connection);
      await connection.close();
    },
  };
}

async function ensureStream(manager: JetStreamManager): Promise<void> {
  const config: Partial<StreamConfig> = {
    name: STREAM, subjects: SUBJECTS, retention: RetentionPolicy.Limits, storage: StorageType.File,
    max_age: nanos(KEEP_MS), duplicate_window: nanos(DUPLICATE_WINDOW_MS),
  };
  try {
    await manager.streams.info(STREAM);
  } catch {
    await manager.streams.add(config);
  }
}

interface Wiring { readonly manager: JetStreamManager; readonly stream: JetStreamClient; readonly log: Log }
interface Listening<S extends DescMessage> { readonly schema: S; readonly group: string; readonly handle: Handler<S> }

async function subscribe<S extends DescMessage>({ manager, stream, log }: Wiring, { schema, group, handle }: Listening<S>): Promise<Subscription> {
  const durable = `${group}-${schema.typeName.replaceAll('.', '-')}`;
  await manager.consumers.add(STREAM, {
    durable_name: durable, filter_subject: schema.typeName, ack_policy: AckPolicy.Explicit, ack_wait: nanos(ACK_WAIT_MS),
    max_deliver: DELIVERIES_MAX, max_ack_pending: PENDING_ACKS_MAX,
  });
  const consumer = await stream.consumers.get(STREAM, durable);
  const messages = await consumer.consume({ max_messages: PENDING_ACKS_MAX });
  const running = new Set<Promise<void>>();
  const handleOne = async (received: JsMsg): Promise<void> => {
    try {
      await handle(fromBinary(schema, received.data));
      received.ack();
    } catch (error) {
      log.warn({ subject: received.subject, delivery: received.info.deliveryCount, err: error }, 'an event was not handled');
      received.nak(REDELIVERY_MS * received.info.deliveryCount);
    }
  };
  void takeAll(messages, (received) => {
    const work = handleOne(received);
    running.add(work);
    void work.finally(() => running.delete(work));
  });
  return {
    stop: async () => {
      await messages.close();
      await Promise.all(running);
    },
  };
}

/** The server sends no more than `max_ack_pending` unacknowledged, which bounds what runs at once. */
async function takeAll(messages: ConsumerMessages, take: (received: JsMsg) => void): Promise<void> {
  for await (const received of messages) take(received);
}

/** Lets what was announced go out, for a while: a server that is gone would be waited for. */
async function drain(connection: NatsConnection): Promise<void> {
  if (connection.isClosed() || connection.isDraining()) return;
  const done = new AbortController();
  await Promise.race([connection.drain(), systemClock.sleep(DRAIN_MS_MAX, done.signal)]);
  done.abort();
}

/** Tells whether there is a connection, whenever that changes, for as long as the bus is open. */
async function followStatus(connection: NatsConnection, tellNow: (connected: boolean) => void): Promise<void> {
  for await (const { type } of connection.status()) {
    if (type === Events.Disconnect) tellNow(false);
    else if (type === Events.Reconnect) tellNow(true);
  }
}
