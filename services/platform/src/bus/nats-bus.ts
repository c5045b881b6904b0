import { fromBinary, toBinary } from '@bufbuild/protobuf';
import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import { headers } from 'nats';
import type { JetStreamManager, NatsConnection } from 'nats';
import { toEventName, callListener } from './bus.ts';
import type { Bus, Subscription } from './bus.ts';
import { UNCOUNTED, consumerName } from './bus-metrics.ts';
import type { Redeliveries } from './bus-metrics.ts';
import { inSendSpan } from './bus-span.ts';
import type { BusSettings } from './bus-settings.ts';
import { connectNats, followStatus, numberConnections } from './nats-connection.ts';
import { STREAM, ensureStream } from './nats-stream.ts';
import { newOwnListeners } from './own-listeners.ts';
import { TRACE_HEADER, renewAll, subscribeTo } from './nats-subscription.ts';
import type { Renewable, Wiring } from './nats-subscription.ts';
import { systemClock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { TraceContinuer } from '../trace/trace.ts';
import { NO_TRACING } from '../trace/trace.ts';

const ANNOUNCE_PREFIX = 'announce.';
/** The time after which the events of a process that is gone go to another one. A live process renews its claim. */
const ACK_WAIT_MS = 6000;
const DRAIN_MS_MAX = 5000;

/**
 * Connects to NATS: JetStream for published events, plain subjects for announcements. The server does not send a
 * process its own announcements. The bus reconnects by itself while it is open. If a server comes back without its
 * store, the bus creates the stream and its consumers again. While a slow handler runs, its event is not delivered
 * again.
 */
export async function openNatsBus(
  settings: BusSettings,
  log: Log,
  { ackWaitMs = ACK_WAIT_MS, tracing = NO_TRACING, redeliveries = UNCOUNTED }: NatsBusOptions = {},
): Promise<Bus> {
  const connection = await connectNats(settings);
  const manager = await openManager(connection, settings, log);
  const stream = connection.jetstream();
  const wiring: Wiring = { manager, stream, settings, log, ackWaitMs, tracing, redeliveries };
  const subscriptions: Renewable[] = [];
  const consumers = new Set<string>();
  const own = newOwnListeners(log);
  let connected = true;
  const numbers = numberConnections(() => connection.flush());
  let renewal = Promise.resolve();
  void followStatus(connection, (now) => {
    connected = now;
    numbers.change(now);
    if (now) renewal = renewal.then(() => renewAll(wiring, subscriptions, () => connected && !connection.isClosed()));
  });

  return {
    publish: async (schema, message, event) => {
      const { id, carrier } = toEventName(event);
      const { typeName: subject } = schema;
      await inSendSpan(tracing, carrier, { system: 'nats', subject, id }, (span) =>
        stream.publish(subject, toBinary(schema, message), {
          msgID: `${subject} ${id}`,
          ...(span.carrier === undefined ? {} : { headers: toTraceHeaders(span.carrier) }),
        }),
      );
    },
    subscribe: async (schema, group, handle) => {
      const durable = { name: consumerName(group, schema.typeName), subject: schema.typeName, group };
      const subscription = await subscribeTo(wiring, durable, { schema, handle });
      subscriptions.push(subscription);
      consumers.add(durable.name);
      return subscription;
    },
    announce: (schema, message) => {
      if (connection.isClosed()) return;
      own.notify(schema, message);
      connection.publish(ANNOUNCE_PREFIX + schema.typeName, toBinary(schema, message));
    },
    listen: async (schema, handle) => {
      const others = await listenTo(connection, { schema, handle, log });
      const here = own.add(schema, handle);
      return {
        stop: async () => {
          await Promise.all([here.stop(), others.stop()]);
        },
      };
    },
    connection: numbers.current,
    pending: () => countPending(manager, [...consumers]),
    ready: () => connected && !connection.isClosed() && !connection.isDraining(),
    close: async () => {
      await Promise.all(subscriptions.map((subscription) => subscription.stop()));
      if (connected) await drain(connection);
      await connection.close();
    },
  };
}

interface Listener<S extends DescMessage> {
  readonly schema: S;
  readonly handle: (message: MessageShape<S>) => void;
  readonly log: Log;
}

/** Subscribes to the announcements of a kind from other processes. */
async function listenTo<S extends DescMessage>(
  connection: NatsConnection,
  { schema, handle, log }: Listener<S>,
): Promise<Subscription> {
  const subscription = connection.subscribe(ANNOUNCE_PREFIX + schema.typeName, {
    callback: (error, received) => {
      if (error === null) callListener(() => handle(fromBinary(schema, received.data)), log);
    },
  });
  await connection.flush();
  return {
    stop: async () => {
      subscription.unsubscribe();
    },
  };
}

export interface NatsBusOptions {
  readonly ackWaitMs?: number | undefined;
  /** Without it, no event is recorded. */
  readonly tracing?: TraceContinuer | undefined;
  readonly redeliveries?: Redeliveries | undefined;
}

async function countPending(manager: JetStreamManager, names: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const infos = await Promise.all(names.map((name) => manager.consumers.info(STREAM, name)));
  return new Map(infos.map(({ name, num_pending: waiting, num_ack_pending: taken }) => [name, waiting + taken]));
}

function toTraceHeaders(carrier: string): ReturnType<typeof headers> {
  const own = headers();
  own.set(TRACE_HEADER, carrier);
  return own;
}

/** The errors with which a server refuses for good: a repeat would not help. */
const REFUSED: ReadonlySet<string> = new Set([
  'AUTHORIZATION_VIOLATION',
  'AUTHENTICATION_EXPIRED',
  'AUTHENTICATION_TIMEOUT',
  'ACCOUNT_EXPIRED',
  'BAD_AUTHENTICATION',
  'BAD_CREDS',
]);
const NETWORK = /^(ECONN|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_AGAIN|EPIPE)/;

/** Reports whether the bus could not be opened because its server is away, is starting, or has no leader yet. */
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

/** Sends pending announcements, with a time limit in case the server is gone. */
async function drain(connection: NatsConnection): Promise<void> {
  if (connection.isClosed() || connection.isDraining()) return;
  const done = new AbortController();
  await Promise.race([connection.drain(), systemClock.sleep(DRAIN_MS_MAX, done.signal)]);
  done.abort();
}
