import type { Clock } from '../clock.ts';

const SWEEP_MS = 1000;
/** A body that is this far behind its minimum speed is the first to be stopped. */
const BEHIND_MS = 2000;

/** The least speed of a body, and the time for which it may be slower. */
export interface BodyPace {
  /** A body may be this far behind the minimum speed, in milliseconds. A silent body ends after this time. */
  readonly idleMs: number;
  readonly bytesPerSecondMin: number;
}

interface StoppableBody {
  stop: ((why: 'slow') => void) | undefined;
}

/** The bodies that still arrive. */
export interface Arrivals<Body extends StoppableBody> {
  add(body: Body): void;
  remove(body: Body): void;
  /** Extends the deadline of the body by the time that the bytes may take. */
  extend(body: Body, bytes: number): void;
  /** The body has all the time until it is resumed. */
  pause(body: Body): void;
  resume(body: Body): void;
  /** Reports whether the client has sent too little for a while. */
  isBehind(body: Body): boolean;
  list(): Iterable<Body>;
}

/**
 * Stops bodies that arrive too slowly. Each has a deadline, which every byte extends by its time at the minimum speed,
 * never beyond the idle time from now. One sweep per second checks all of them, because a timer for each chunk would
 * cost more than the chunk.
 */
export function newArrivals<Body extends StoppableBody>(
  clock: Clock,
  { idleMs, bytesPerSecondMin }: BodyPace,
  beforeSweep: () => void = () => undefined,
): Arrivals<Body> {
  const deadlines = new Map<Body, number>();
  let isSweeping = false;
  const stopLate = (now: number, stalledMs: number): void => {
    for (const [body, deadline] of deadlines) {
      if (deadline + stalledMs < now) body.stop?.('slow');
      else if (stalledMs > 0) deadlines.set(body, deadline + stalledMs);
    }
  };
  const sweep = async (): Promise<void> => {
    isSweeping = true;
    let sweptAt = clock.now();
    while (deadlines.size > 0) {
      await clock.sleep(SWEEP_MS);
      beforeSweep();
      const now = clock.now();
      const lateMs = now - sweptAt - SWEEP_MS;
      // a program that was suspended has not read the bytes that arrived meanwhile
      stopLate(now, lateMs > SWEEP_MS ? lateMs : 0);
      sweptAt = now;
    }
    isSweeping = false;
  };
  return {
    add: (body) => {
      deadlines.set(body, clock.now() + idleMs);
      if (!isSweeping) void sweep();
    },
    remove: (body) => void deadlines.delete(body),
    extend: (body, bytes) => {
      const deadline = deadlines.get(body);
      if (deadline === undefined) return;
      deadlines.set(body, Math.min(clock.now() + idleMs, deadline + (bytes * 1000) / bytesPerSecondMin));
    },
    pause: (body) => {
      if (deadlines.has(body)) deadlines.set(body, Infinity);
    },
    resume: (body) => {
      if (deadlines.has(body)) deadlines.set(body, clock.now() + idleMs);
    },
    isBehind: (body) => (deadlines.get(body) ?? Infinity) < clock.now() + idleMs - BEHIND_MS,
    list: () => deadlines.keys(),
  };
}
