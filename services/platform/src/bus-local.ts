import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import type { Bus, Handler, Subscription } from './bus.ts';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';

const SEEN_IDS_MAX = 10_000;
const DELIVERIES_MAX = 10;
const REDELIVERY_MS = 200;

type AnyHandler = (message: never) => Promise<void>;
type AnyListener = (message: never) => void;

/** The bus of a single program. What is undelivered when the program ends is lost: the outbox and the sweeps are the truth. */
export function openLocalBus(clock: Clock, log: Log): Bus {
  const groups = new Map<string, Map<string, AnyHandler[]>>();
  const listeners = new Map<string, Set<AnyListener>>();
  const seen = new Set<string>();
  const running = new Set<Promise<void>>();
  const closing = new AbortController();
  const deliver = deliverer({ clock, log, signal: closing.signal, running });

  return {
    publish: async (schema, message, id) => {
      if (!remember(seen, `${schema.typeName} ${id}`)) return;
      for (const members of groups.get(schema.typeName)?.values() ?? []) {
        const member = members.shift();
        if (member === undefined) continue;
        members.push(member);
        deliver(schema.typeName, member, message);
      }
    },
    subscribe: async <S extends DescMessage>(schema: S, group: string, handle: Handler<S>): Promise<Subscription> => {
      const bySubject = getOrAdd(groups, schema.typeName, () => new Map<string, AnyHandler[]>());
      const members = getOrAdd(bySubject, group, () => []);
      const own: AnyHandler = (message) => handle(message);
      members.push(own);
      return {
        stop: async () => {
          members.splice(members.indexOf(own), 1);
          await Promise.all(running);
        },
      };
    },
    announce: (schema, message) => {
      for (const listener of listeners.get(schema.typeName) ?? []) queueMicrotask(() => {
        listener(message as never);
      });
    },
    listen: async <S extends DescMessage>(schema: S, handle: (message: MessageShape<S>) => void): Promise<Subscription> => {
      const own = getOrAdd(listeners, schema.typeName, () => new Set());
      own.add(handle);
      return { stop: async () => void own.delete(handle) };
    },
    ready: () => true,
    close: async () => {
      closing.abort();
      await Promise.all(running);
    },
  };
}

interface Delivery {
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly running: Set<Promise<void>>;
}

/** Hands over until the handler takes it, so many times at most; the sweeps find what is left. */
function deliverer({ clock, log, signal, running }: Delivery): (subject: string, handle: AnyHandler, message: unknown) => void {
  const tries = async (subject: string, handle: AnyHandler, message: unknown): Promise<void> => {
    for (let delivery = 1; delivery <= DELIVERIES_MAX && !signal.aborted; delivery += 1) {
      try {
        await handle(message as never);
        return;
      } catch (error) {
        log.warn({ subject, delivery, err: error }, 'an event was not handled');
        await clock.sleep(REDELIVERY_MS * delivery, signal);
      }
    }
  };
  return (subject, handle, message) => {
    const work = tries(subject, handle, message);
    running.add(work);
    void work.finally(() => running.delete(work));
  };
}

/** Whether an id is new; so many of the last are remembered. */
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
