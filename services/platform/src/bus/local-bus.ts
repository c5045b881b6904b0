import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import { tell } from './bus.ts';
import type { Bus, Handler, Subscription } from './bus.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';

const SEEN_IDS_MAX = 10_000;
const DELIVERIES_MAX = 10;
const REDELIVERY_MS = 200;

type AnyHandler = (message: never) => Promise<void>;
type AnyListener = (message: never) => void;

interface Member {
  readonly handle: AnyHandler;
  readonly running: Set<Promise<void>>;
}

/**
 * The bus of a single program. Undelivered events are lost when the program ends; the outbox and the sweeps make up for
 * them.
 */
export function openLocalBus(clock: Clock, log: Log): Bus {
  const groups = new Map<string, Map<string, Member[]>>();
  const listeners = new Map<string, Set<AnyListener>>();
  const seen = new Set<string>();
  const undelivered = new Set<Promise<void>>();
  const closing = new AbortController();
  const deliver = deliverer(clock, log, closing.signal);

  return {
    publish: async (schema, message, id) => {
      if (!remember(seen, `${schema.typeName} ${id}`)) return;
      for (const members of groups.get(schema.typeName)?.values() ?? [])
        void track(undelivered, deliver(schema.typeName, members, message));
    },
    subscribe: async <S extends DescMessage>(schema: S, group: string, handle: Handler<S>): Promise<Subscription> => {
      const bySubject = getOrAdd(groups, schema.typeName, () => new Map<string, Member[]>());
      const members = getOrAdd(bySubject, group, () => []);
      const own: Member = { handle: async (message) => handle(message), running: new Set() };
      members.push(own);
      return {
        stop: async () => {
          if (members.includes(own)) members.splice(members.indexOf(own), 1);
          await Promise.allSettled(own.running);
        },
      };
    },
    announce: (schema, message) => {
      for (const listener of listeners.get(schema.typeName) ?? [])
        queueMicrotask(() => {
          tell(listener, message as never, log);
        });
    },
    listen: async <S extends DescMessage>(
      schema: S,
      handle: (message: MessageShape<S>) => void,
    ): Promise<Subscription> => {
      const own = getOrAdd(listeners, schema.typeName, () => new Set());
      own.add(handle);
      return { stop: async () => void own.delete(handle) };
    },
    ready: () => true,
    close: async () => {
      closing.abort();
      await Promise.all(undelivered);
    },
  };
}

type Deliver = (subject: string, members: Member[], message: unknown) => Promise<void>;

/** Delivers to one member after another until one succeeds, up to a maximum of deliveries. The sweeps find the rest. */
function deliverer(clock: Clock, log: Log, signal: AbortSignal): Deliver {
  return async (subject, members, message) => {
    for (let delivery = 1; delivery <= DELIVERIES_MAX && !signal.aborted; delivery += 1) {
      const member = members.shift();
      if (member === undefined) return;
      members.push(member);
      try {
        await track(member.running, member.handle(message as never));
        return;
      } catch (error) {
        log.warn({ subject, delivery, err: error }, 'an event was not handled');
        await clock.sleep(REDELIVERY_MS * delivery, signal);
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

/** Whether an id is new. A limited number of recent ids is remembered. */
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
