import type { Clock } from '@reelgate/platform/clock';

const WAITING_MAX = 256;

/** The bytes of all bodies that are held at one time. */
export interface BodyBudget {
  /** Takes so many, or none when they do not fit. */
  take(bytes: number): boolean;
  /** Takes so many as soon as they fit, in the order of asking; false: not within a while, or not before the signal. */
  takeInTurn(bytes: number, signal: AbortSignal): Promise<boolean>;
  give(bytes: number): void;
}

export interface BodyBudgetOptions {
  readonly bytesMax: number;
  readonly clock: Clock;
  /** How long a body waits for its turn. */
  readonly patienceMs: number;
}

interface Waiting {
  readonly bytes: number;
  enter(taken: boolean): void;
}

export function openBodyBudget({ bytesMax, clock, patienceMs }: BodyBudgetOptions): BodyBudget {
  const waiting: Waiting[] = [];
  let held = 0;
  const take = (bytes: number): boolean => {
    if (held + bytes > bytesMax) return false;
    held += bytes;
    return true;
  };
  const admit = (): void => {
    for (let [first] = waiting; first !== undefined && take(first.bytes); [first] = waiting) {
      waiting.shift();
      first.enter(true);
    }
  };
  return {
    take,
    takeInTurn: async (bytes, signal) => {
      if (waiting.length === 0 && take(bytes)) return true;
      if (waiting.length >= WAITING_MAX || signal.aborted) return false;
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const turn: Waiting = { bytes, enter: resolve };
      waiting.push(turn);
      const over = new AbortController();
      const leave = (): void => {
        const at = waiting.indexOf(turn);
        if (at >= 0) waiting.splice(at, 1);
        resolve(false);
        // whoever stood behind may fit where this one did not
        admit();
      };
      signal.addEventListener('abort', leave, { once: true, signal: over.signal });
      void clock.sleep(patienceMs, over.signal).then(() => {
        if (!over.signal.aborted) leave();
      });
      const taken = await promise;
      over.abort();
      return taken;
    },
    give: (bytes) => {
      held -= bytes;
      admit();
    },
  };
}
