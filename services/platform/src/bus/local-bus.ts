import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import { toEventName } from './bus.ts';
import type { Bus, Handler, Subscription } from './bus.ts';
import { UNCOUNTED, consumerName } from './bus-metrics.ts';
import type { Redeliveries } from './bus-metrics.ts';
import { inProcessSpan, inSendSpan } from './bus-span.ts';
import { newOwnListeners } from './own-listeners.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Span, TraceContinuer } from '../trace/trace.ts';
import { NO_TRACING } from '../trace/trace.ts';

const SEEN_IDS_MAX = 10_000;
const DELIVERIES_MAX = 10;
const REDELIVERY_MS = 200;
const SYSTEM = 'in_process';

interface Group {
  /** As NATS would name its consumer. */
  readonly consumer: string;
  readonly members: Member[];
  readonly undelivered: Set<Promise<void>>;
}

export interface LocalBusOptions {
  /** Without it, no event is recorded. */
  readonly tracing?: TraceContinuer | undefined;
  readonly redeliveries?: Redeliveries | undefined;
}

interface Member {
  readonly group: string;
  /**
   * Written as a method, so that TypeScript accepts a handler of any message. A member receives only the messages of
   * its own subject.
   */
  handle(message: unknown, span: Span): Promise<void>;
  readonly running: Set<Promise<void>>;
}

/**
 * Creates the bus of a single program. Undelivered events are lost when the program ends, and the outbox and the sweeps
 * compensate for them.
 */
export function newLocalBus(
  clock: Clock,
  log: Log,
  { tracing = NO_TRACING, redeliveries = UNCOUNTED }: LocalBusOptions = {},
): Bus {
  const groups = new Map<string, Map<string, Group>>();
  const listeners = newOwnListeners(log);
  const seen = new Set<string>();
  const closing = new AbortController();
  const deliver = deliverer({ clock, log, tracing, redeliveries, closing: closing.signal });
  const allGroups = (): Group[] => [...groups.values()].flatMap((bySubject) => [...bySubject.values()]);

  return {
    publish: async (schema, message, event) => {
      const { id, carrier } = toEventName(event);
      const subject = schema.typeName;
      if (!remember(seen, `${subject} ${id}`)) return;
      await inSendSpan(tracing, carrier, { system: SYSTEM, subject, id }, async (span) => {
        for (const group of groups.get(subject)?.values() ?? [])
          void track(group.undelivered, deliver({ subject, id, carrier: span.carrier }, group, message));
      });
    },
    subscribe: async <S extends DescMessage>(schema: S, group: string, handle: Handler<S>): Promise<Subscription> => {
      const bySubject = getOrAdd(groups, schema.typeName, () => new Map<string, Group>());
      const { members, consumer } = getOrAdd(bySubject, group, () => ({
        consumer: consumerName(group, schema.typeName),
        members: [],
        undelivered: new Set<Promise<void>>(),
      }));
      const own: Member = {
        group,
        handle: async (message: MessageShape<S>, span) => handle(message, span),
        running: new Set(),
      };
      members.push(own);
      redeliveries.begin(consumer);
      return {
        stop: async () => {
          if (members.includes(own)) members.splice(members.indexOf(own), 1);
          await Promise.allSettled(own.running);
        },
      };
    },
    announce: (schema, message) => listeners.notify(schema, message),
    listen: async (schema, handle) => listeners.add(schema, handle),
    pending: async () => new Map(allGroups().map(({ consumer, undelivered }) => [consumer, undelivered.size])),
    connection: () => 0,
    ready: () => true,
    close: async () => {
      closing.abort();
      await Promise.all(allGroups().flatMap(({ undelivered }) => [...undelivered]));
    },
  };
}

interface LocalEvent {
  readonly subject: string;
  readonly id: string;
  readonly carrier: string | undefined;
}

type Deliver = (event: LocalEvent, group: Group, message: unknown) => Promise<void>;

interface DeliverDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly tracing: TraceContinuer;
  readonly redeliveries: Redeliveries;
  readonly closing: AbortSignal;
}

/** Delivers to one member after another until one succeeds, up to a maximum of deliveries. The sweeps find the rest. */
function deliverer({ clock, log, tracing, redeliveries, closing }: DeliverDeps): Deliver {
  return async ({ subject, id, carrier }, { consumer, members }, message) => {
    for (let delivery = 1; delivery <= DELIVERIES_MAX && !closing.aborted; delivery += 1) {
      const member = members.shift();
      if (member === undefined) return;
      members.push(member);
      if (delivery > 1) redeliveries.count(consumer);
      try {
        const event = { system: SYSTEM, subject, id, group: member.group, delivery } as const;
        const work = inProcessSpan(tracing, carrier, event, (span) => member.handle(message, span));
        await track(member.running, work);
        return;
      } catch (error) {
        log.warn({ subject, delivery, err: error }, 'an event was not handled');
        await clock.sleep(REDELIVERY_MS * delivery, closing);
      }
    }
  };
}

async function track(running: Set<Promise<void>>, work: Promise<void>): Promise<void> {
  running.add(work);
  try {
    await work;
  } finally {
    running.delete(work);
  }
}

/** Reports whether an id is new. Remembers a limited number of recent ids. */
function remember(seen: Set<string>, id: string): boolean {
  if (seen.has(id)) return false;
  seen.add(id);
  const [oldest] = seen;
  if (seen.size > SEEN_IDS_MAX && oldest !== undefined) seen.delete(oldest);
  return true;
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}
