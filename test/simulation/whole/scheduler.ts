import type { Clock } from '@reelgate/platform/clock';
import { currentRequestId } from '@reelgate/platform/request-context';
import { newNameCounter } from './draws.ts';
import type { Draws } from './draws.ts';

/** More events without a move of the clock are a loop that never ends. */
const EVENTS_OF_A_MOMENT_MAX = 200_000;
/** How often a timer is late, and by how much at most, while timers are late at all. */
const LATE_TIMERS = 0.02;
const LATE_MS_MAX = 40;
/** The length of the moments by which work without a request is named. */
const MOMENT_MS = 100;
const BEGIN = Date.UTC(2026, 0, 1);

/** A process of the simulation. Nothing of it runs after its death. */
export interface SimulatedProcess {
  readonly name: string;
  /** The place that it has among the processes of the program. The one that follows it has the same place. */
  readonly place: string;
  isAlive: boolean;
  /** Nothing of it runs before this time: its machine is busy with something else. */
  frozenUntil: number;
  /** How much its clock is ahead of the time of the world. */
  skewMs: number;
}

/** An event that has not run yet. */
export interface PendingEvent {
  /** Later than it was asked for, if its process stands still. */
  at: number;
  order: number;
  readonly process: SimulatedProcess;
  readonly begin: (value: undefined) => void;
  isCancelled: boolean;
}

export interface Scheduler {
  readonly begin: number;
  readonly now: () => number;
  /** The clock of a process. Its waits belong to the process that begins them. */
  openClock(process: SimulatedProcess): Clock;
  /** The time as the process knows it that runs now. */
  readonly localNow: () => number;
  /** The process of the clients, of the upstreams and of the network between them. */
  readonly world: SimulatedProcess;
  /** The process whose event runs now. */
  readonly current: () => SimulatedProcess;
  /**
   * Names a choice by the request of the client that the running work belongs to, by a kind, and by the number of such
   * choices before. So one request more or fewer leaves the choices of the others as they are. Work without a request
   * is named as by `nameMoment`.
   */
  nameChoice(kind: string): string;
  /**
   * Names a choice by the place of the process that runs, by a kind, by the tenth of a second, and by the number of such
   * choices before in it. So a change at another time leaves the choice as it is.
   */
  nameMoment(kind: string): string;
  /**
   * Names the first choice of a kind in each window of this length. Returns undefined for the later ones, which do not
   * count: so the choice stays the same when a step more or fewer comes before it.
   */
  nameFirst(kind: string, windowMs: number): string | undefined;
  /** The number of events that have run. */
  readonly steps: () => number;
  /** Runs something in a process after a time, unless the process dies before. */
  after(ms: number, process: SimulatedProcess, run: () => void): PendingEvent;
  /** A timer of the process that runs now. It can be late, and is never early. */
  startTimer(ms: number, run: () => void): PendingEvent;
  /** A wait of the world. */
  pause(ms: number): Promise<void>;
  /** Runs one event after another until the end of the run. */
  run(isOver: () => boolean): Promise<unknown>;
}

export interface SchedulerOptions {
  readonly draws: Draws;
  readonly hasLateTimers: boolean;
}

/** Between two immediates, Node ends all microtasks and all ticks. */
const realImmediate = setImmediate;
/** The events of one turn of the real event loop. Each turn asks the kernel for news. */
const EVENTS_OF_A_TURN = 64;

/**
 * Runs one event at a time, in the order of their times. All microtasks of an event end before the next one, so a death
 * between two events is every death that a store can tell apart. The clock moves only when nothing is ready.
 */
export function openScheduler({ draws, hasLateTimers }: SchedulerOptions): Scheduler {
  const events = openEventQueue();
  const world = newProcess('world');
  const countName = newNameCounter();
  const windows = new Map<string, number>();
  let [now, order, steps, ofMoment] = [BEGIN, 0, 0, 0];
  let current = world;
  let failure: { readonly error: unknown } | undefined;

  const after = (ms: number, process: SimulatedProcess, run: () => void): PendingEvent => {
    order += 1;
    // A reaction of a promise runs in the asynchronous context of this moment. AsyncLocalStorage.bind costs much more.
    const { promise, resolve } = Promise.withResolvers<undefined>();
    void promise.then(() => {
      try {
        run();
      } catch (error) {
        failure ??= { error };
      }
    });
    const event: PendingEvent = { at: now + ms, order, process, begin: resolve, isCancelled: false };
    events.add(event);
    return event;
  };
  const nameMoment = (kind: string): string =>
    countName(`${current.place} ${kind} at ${Math.floor((now - BEGIN) / MOMENT_MS)}`);
  const nameFirst = (kind: string, windowMs: number): string | undefined => {
    const window = Math.floor((now - BEGIN) / windowMs);
    if (windows.get(kind) === window) return undefined;
    windows.set(kind, window);
    return `${kind} in ${window}`;
  };
  const nameChoice = (kind: string): string => {
    const request = currentRequestId();
    return request === undefined ? nameMoment(kind) : countName(`${request} ${kind}`);
  };
  /** Timers of one length, up to a factor of two, mostly have one purpose. */
  const drawLateMs = (ms: number): number => {
    const name = nameChoice(`timer ${Math.clz32(ms)}`);
    return draws.happens(name, LATE_TIMERS) ? draws.whole(`${name} by`, 1, LATE_MS_MAX) : 0;
  };
  const startTimer = (ms: number, run: () => void): PendingEvent => {
    const lateMs = hasLateTimers ? drawLateMs(ms) : 0;
    return after(Math.max(1, Math.ceil(ms)) + lateMs, current, run);
  };
  const sleep: Clock['sleep'] = (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) {
        resolve();
        return;
      }
      const over = (): void => {
        timer.isCancelled = true;
        signal?.removeEventListener('abort', over);
        resolve();
      };
      const timer = startTimer(ms, over);
      signal?.addEventListener('abort', over, { once: true });
    });
  const takeNext = (): PendingEvent => {
    for (;;) {
      const event = events.take();
      if (event === undefined) throw new Error('the simulation has no event left, and has not ended');
      if (event.isCancelled || !event.process.isAlive) continue;
      const { frozenUntil } = event.process;
      if (event.at >= frozenUntil) return event;
      order += 1;
      [event.at, event.order] = [frozenUntil, order];
      events.add(event);
    }
  };
  const runNext = (): void => {
    const event = takeNext();
    ofMoment = event.at > now ? 0 : ofMoment + 1;
    if (ofMoment > EVENTS_OF_A_MOMENT_MAX) throw new Error('the program runs without end, and its clock stands still');
    now = Math.max(now, event.at);
    steps += 1;
    current = event.process;
    event.begin(undefined);
  };
  const run = (isOver: () => boolean): Promise<unknown> =>
    repeatInImmediates(() => {
      current = world;
      if (failure !== undefined) throw failure.error;
      if (isOver()) return false;
      runNext();
      return true;
    });
  return {
    begin: BEGIN,
    now: () => now,
    openClock: (process) => ({ now: () => now + process.skewMs, sleep }),
    localNow: () => now + current.skewMs,
    world,
    current: () => current,
    ...{ nameChoice, nameMoment, nameFirst },
    steps: () => steps,
    after,
    startTimer,
    pause: (ms) =>
      new Promise((resolve) => {
        after(ms, world, resolve);
      }),
    run,
  };
}

/** Calls `step` in one immediate after another, as long as it returns true. */
function repeatInImmediates(step: () => boolean): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  let isOver = false;
  const stepOnce = (): void => {
    if (isOver) return;
    try {
      isOver = !step();
      if (isOver) resolve(undefined);
    } catch (error) {
      isOver = true;
      reject(error);
    }
  };
  const beginTurn = (): void => {
    if (isOver) return;
    for (let event = 0; event < EVENTS_OF_A_TURN; event += 1) realImmediate(stepOnce);
    realImmediate(beginTurn);
  };
  beginTurn();
  return promise;
}

interface EventQueue {
  add(event: PendingEvent): void;
  take(): PendingEvent | undefined;
}

/** A binary heap. Events of one moment keep the order in which they were added. */
function openEventQueue(): EventQueue {
  const heap: PendingEvent[] = [];
  const isBefore = (a: PendingEvent, b: PendingEvent): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);
  const swap = (a: number, b: number): void => {
    [heap[a], heap[b]] = [heap[b]!, heap[a]!];
  };
  const sink = (from: number): void => {
    let at = from;
    for (;;) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      let least = at;
      if (left < heap.length && isBefore(heap[left]!, heap[least]!)) least = left;
      if (right < heap.length && isBefore(heap[right]!, heap[least]!)) least = right;
      if (least === at) return;
      swap(at, least);
      at = least;
    }
  };
  return {
    add: (event) => {
      heap.push(event);
      for (let at = heap.length - 1; at > 0 && isBefore(heap[at]!, heap[(at - 1) >> 1]!); at = (at - 1) >> 1)
        swap(at, (at - 1) >> 1);
    },
    take: () => {
      const first = heap[0];
      const last = heap.pop();
      if (first !== undefined && last !== undefined && heap.length > 0) {
        heap[0] = last;
        sink(0);
      }
      return first;
    },
  };
}

/** A process that is up, with a clock that is right. */
export function newProcess(name: string, place = name): SimulatedProcess {
  return { name, place, isAlive: true, frozenUntil: 0, skewMs: 0 };
}
