import { postgresFault } from '@reelgate/platform/sql/postgres-faults';
import { StoreUnavailable } from '@reelgate/platform/sql/sql';
import type { Draws } from './draws.ts';
import type { Scheduler, SimulatedProcess } from './scheduler.ts';

const TRIP_MS_MAX = 2;

/** A process at the server. */
export interface Connected {
  readonly process: SimulatedProcess;
  /** The class of errors of its release. */
  readonly Unavailable: typeof StoreUnavailable;
}

/** Messages of one connection, which keep their order, and so do their answers. */
export interface ShortTrips {
  /** Runs something on the server at this moment. Its answer comes now too, unless it waits for others there. */
  now<T>(run: () => Promise<T>): Promise<T>;
  /** Does the same after a trip. */
  later<T>(run: () => Promise<T>, stallMs?: number): Promise<T>;
}

/** The messages between processes and a server. */
export interface Trips {
  /** Opens a connection whose messages travel there and back. */
  open(connected: Connected): <T>(run: () => Promise<T>) => Promise<T>;
  /**
   * Opens a connection for messages whose answer can only be lost with its process, and whose work is then undone or is
   * none. Such a message is one event in place of two.
   */
  openShort(connected: Connected): ShortTrips;
}

export interface TripsOptions {
  readonly scheduler: Scheduler;
  readonly draws: Draws;
  readonly isAway: () => boolean;
}

export function openTrips({ scheduler, draws, isAway }: TripsOptions): Trips {
  const tripMs = (): number => draws.whole(scheduler.nameChoice('server trip'), 1, TRIP_MS_MAX);
  const runHere = async <T>(run: () => Promise<T>, { Unavailable }: Connected): Promise<T> => {
    if (isAway()) throw new Unavailable('the server is away');
    try {
      return await run();
    } catch (error) {
      throw toServerFault(error, Unavailable);
    }
  };
  return {
    open: (connected) => {
      const { process } = connected;
      let [there, back] = [0, 0];
      return (run) => {
        there = Math.max(there, scheduler.now() + tripMs());
        return new Promise((resolve, reject) => {
          const answer = (end: () => void): void => {
            back = Math.max(back, scheduler.now() + tripMs());
            scheduler.after(back - scheduler.now(), process, end);
          };
          scheduler.after(there - scheduler.now(), scheduler.world, () => {
            // its connections are gone
            if (process.isAlive) settleIn(answer, runHere(run, connected), { resolve, reject });
          });
        });
      };
    },
    openShort: (connected) => {
      const { process } = connected;
      let back = 0;
      const moveBack = (ms: number): number => {
        back = Math.max(back, scheduler.now() + ms);
        return back - scheduler.now();
      };
      const now: ShortTrips['now'] = (run) => {
        const step = scheduler.steps();
        return new Promise((resolve, reject) => {
          // what waited on the server ends in an event of another process
          const answer = (end: () => void): void => {
            if (scheduler.steps() === step) end();
            else scheduler.after(moveBack(tripMs()), process, end);
          };
          settleIn(answer, runHere(run, connected), { resolve, reject });
        });
      };
      return {
        now,
        later: (run, stallMs = 0) =>
          new Promise((resolve, reject) => {
            scheduler.after(moveBack(tripMs() + stallMs), process, () => {
              now(run).then(resolve, reject);
            });
          }),
      };
    },
  };
}

function settleIn<T>(
  answer: (end: () => void) => void,
  running: Promise<T>,
  { resolve, reject }: { readonly resolve: (value: T) => void; readonly reject: (error: Error) => void },
): void {
  running.then(
    (value) => {
      answer(() => {
        resolve(value);
      });
    },
    (error: unknown) => {
      answer(() => {
        reject(error instanceof Error ? error : new Error(String(error)));
      });
    },
  );
}

/** The error as the product reads it off a connection to PostgreSQL, in the class of the release that runs. */
function toServerFault(error: unknown, Unavailable: typeof StoreUnavailable): unknown {
  const fault = postgresFault(error, false);
  if (!(fault instanceof StoreUnavailable) || fault === error) return error;
  const { cause, maybeWritten, isContention } = fault;
  return new Unavailable(cause, { maybeWritten, isContention });
}
