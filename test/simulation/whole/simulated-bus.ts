import { fromBinary, toBinary } from '@bufbuild/protobuf';
import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import { callListener, toEventName } from '@reelgate/platform/bus/bus';
import type { Bus, Handler } from '@reelgate/platform/bus/bus';
import type { Log } from '@reelgate/platform/log';
import { NO_SPAN } from '@reelgate/platform/trace/trace';
import { newNameCounter } from './draws.ts';
import type { Draws } from './draws.ts';
import type { Faults } from './faults.ts';
import type { Scheduler, SimulatedProcess } from './scheduler.ts';

const TRIP_MS_MAX = 5;
/** As the product sets the consumers of its stream: how long an event belongs to a process, and how often it comes. */
const ACK_WAIT_MS = 6000;
const REDELIVERY_MS = 1000;
const DELIVERIES_MAX = 20;
/** A second event with the same id is dropped for this time. */
const KNOWN_MS = 120_000;
const LOST_PUBLISHES = 0.06;
const LOST_ACKS = 0.15;
const LOST_ANNOUNCEMENTS = 0.15;
/** The server drops no single announcement: it closes a connection, and announcements are lost until the next one. */
const CUT_MS_MAX = 3000;
const DOUBLED_ANNOUNCEMENTS = 0.1;
/** A late announcement is overtaken by those after it. */
const LATE_ANNOUNCEMENTS = 0.1;
const LATE_MS_MAX = 3000;

/** A message bus between processes: its stream outlives them. */
export interface SimulatedBus {
  connect(process: SimulatedProcess, log: Log): Bus;
}

export interface BusOptions {
  readonly scheduler: Scheduler;
  readonly draws: Draws;
  readonly faults: Faults;
  /** Names what an event is about, so that its choices stay its own. */
  readonly nameSubject: (bytes: Uint8Array) => string;
}

interface Member {
  readonly process: SimulatedProcess;
  readonly take: (bytes: Uint8Array) => Promise<void>;
  isStopped: boolean;
}

interface StoredEvent {
  readonly bytes: Uint8Array;
  deliveries: number;
}

/** A durable consumer: its events wait while it has no member. */
interface Group {
  readonly name: string;
  readonly members: Member[];
  readonly waiting: StoredEvent[];
}

/** The connection of a process to the bus. */
interface Connection {
  readonly number: number;
  /** It is made at this time: until then, the process has none. */
  readonly from: number;
}

interface Listener {
  readonly process: SimulatedProcess;
  readonly hear: (bytes: Uint8Array) => void;
}

export function openSimulatedBus({ scheduler, draws, faults, nameSubject }: BusOptions): SimulatedBus {
  const groups = new Map<string, Map<string, Group>>();
  const listeners = new Map<string, Set<Listener>>();
  const known = new Map<string, number>();
  const connections = new WeakMap<SimulatedProcess, Connection>();
  const countName = newNameCounter();
  const nameEvent = (kind: string, bytes: Uint8Array): string => countName(`${kind} ${nameSubject(bytes)}`);
  const drawTrip = (name: string): number => draws.whole(`bus ${name}`, 1, TRIP_MS_MAX);
  const listMembers = ({ members }: Group): Member[] =>
    members.filter(({ process, isStopped }) => process.isAlive && !isStopped);

  const deliver = (group: Group, event: StoredEvent): void => {
    if (event.deliveries >= DELIVERIES_MAX) return;
    const alive = listMembers(group);
    if (alive.length === 0) {
      group.waiting.push(event);
      return;
    }
    event.deliveries += 1;
    const name = nameEvent(`delivery to ${group.name}`, event.bytes);
    const member = draws.pick(`bus ${name} member`, alive);
    let isOver = false;
    const end = (next: () => void): void => {
      if (isOver) return;
      isOver = true;
      next();
    };
    const again = (ms: number): void => {
      scheduler.after(ms, scheduler.world, () => {
        end(() => {
          deliver(group, event);
        });
      });
    };
    // without an answer in time it goes to another one; a live process that is slow renews its claim
    const watch = (): void => {
      scheduler.after(ACK_WAIT_MS, scheduler.world, () => {
        if (isOver) return;
        if (member.process.isAlive && !isAckLost) watch();
        else
          end(() => {
            deliver(group, event);
          });
      });
    };
    const isAckLost = faults.happens('lost bus answer', name, LOST_ACKS);
    watch();
    scheduler.after(drawTrip(name), member.process, () => {
      member.take(event.bytes).then(
        () => {
          if (!isAckLost) scheduler.after(drawTrip(`${name} back`), scheduler.world, () => end(() => undefined));
        },
        () => {
          again(REDELIVERY_MS);
        },
      );
    });
  };
  const store = (subject: string, id: string, bytes: Uint8Array): void => {
    const name = `${subject} ${id}`;
    if (scheduler.now() - (known.get(name) ?? -Infinity) < KNOWN_MS) return;
    known.set(name, scheduler.now());
    for (const group of groups.get(subject)?.values() ?? []) deliver(group, { bytes, deliveries: 0 });
  };
  const findGroup = (subject: string, name: string): Group => {
    const bySubject = groups.get(subject) ?? new Map<string, Group>();
    groups.set(subject, bySubject);
    const group = bySubject.get(name) ?? { name: `${name} of ${subject}`, members: [], waiting: [] };
    bySubject.set(name, group);
    return group;
  };
  const isConnected = (process: SimulatedProcess): boolean => scheduler.now() >= (connections.get(process)?.from ?? 0);
  const cut = (process: SimulatedProcess, name: string): void => {
    const number = (connections.get(process)?.number ?? 0) + 1;
    connections.set(process, { number, from: scheduler.now() + draws.whole(`bus ${name} cut`, 1, CUT_MS_MAX) });
  };
  const announce = (subject: string, bytes: Uint8Array): void => {
    for (const listener of listeners.get(subject) ?? []) {
      if (!listener.process.isAlive) {
        listeners.get(subject)?.delete(listener);
        continue;
      }
      const name = nameEvent(`announcement of ${subject} to ${listener.process.place}`, bytes);
      if (!isConnected(listener.process)) continue;
      if (faults.happens('lost announcement', name, LOST_ANNOUNCEMENTS)) {
        cut(listener.process, name);
        continue;
      }
      const hear = (): void => {
        listener.hear(bytes);
      };
      const lateMs = faults.happens('late announcement', name, LATE_ANNOUNCEMENTS)
        ? draws.whole(`bus ${name} late`, 1, LATE_MS_MAX)
        : 0;
      scheduler.after(drawTrip(name) + lateMs, listener.process, hear);
      if (faults.happens('doubled announcement', name, DOUBLED_ANNOUNCEMENTS))
        scheduler.after(drawTrip(`${name} again`) + lateMs, listener.process, hear);
    }
  };
  return {
    connect: (process, log) => ({
      publish: async (schema, message, event) => {
        const bytes = toBinary(schema, message);
        const name = nameEvent(`publish of ${schema.typeName}`, bytes);
        const isLost = faults.happens('lost bus answer', name, LOST_PUBLISHES);
        const isStored = !isLost || draws.happens(`bus ${name} stored`, 0.5);
        await new Promise<void>((resolve, reject) => {
          scheduler.after(drawTrip(name), scheduler.world, () => {
            if (isStored) store(schema.typeName, toEventName(event).id, bytes);
            scheduler.after(drawTrip(`${name} back`), process, () => {
              if (isLost) reject(new Error('the bus did not answer'));
              else resolve();
            });
          });
        });
      },
      subscribe: async <S extends DescMessage>(schema: S, name: string, handle: Handler<S>) => {
        const group = findGroup(schema.typeName, name);
        const member: Member = {
          process,
          take: (bytes) => handle(fromBinary(schema, bytes), NO_SPAN),
          isStopped: false,
        };
        group.members.push(member);
        for (const event of group.waiting.splice(0)) deliver(group, event);
        return {
          stop: async () => {
            member.isStopped = true;
          },
        };
      },
      announce: (schema, message) => {
        announce(schema.typeName, toBinary(schema, message));
      },
      listen: async <S extends DescMessage>(schema: S, handle: (message: MessageShape<S>) => void) => {
        const ofSubject = listeners.get(schema.typeName) ?? new Set<Listener>();
        listeners.set(schema.typeName, ofSubject);
        const listener: Listener = {
          process,
          hear: (bytes) => {
            callListener(() => {
              handle(fromBinary(schema, bytes));
            }, log);
          },
        };
        ofSubject.add(listener);
        return { stop: async () => void ofSubject.delete(listener) };
      },
      pending: async () => new Map(),
      connection: () => (isConnected(process) ? (connections.get(process)?.number ?? 0) : undefined),
      ready: () => true,
      close: async () => undefined,
    }),
  };
}
