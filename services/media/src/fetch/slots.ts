import { FetchFault } from './fetch-fault.ts';

export type Release = () => void;

const WAITING_MAX = 256;
const BUSY = 'could not be fetched now: too many transfers are under way; try again';

/** So many at once; the others wait in line, up to a number of them, and until their signal is aborted. */
export interface Slots {
  take(signal: AbortSignal): Promise<Release>;
  /** Nobody has one or waits for one. */
  idle(): boolean;
}

export function openSlots(atOnceMax: number, waitingMax = WAITING_MAX): Slots {
  const waiting: (() => void)[] = [];
  let taken = 0;

  const release = (): Release => {
    let released = false;
    return () => {
      if (released) return;
      released = true;
      const next = waiting.shift();
      if (next === undefined) taken -= 1;
      else next();
    };
  };

  return {
    idle: () => taken === 0,
    take: async (signal) => {
      if (signal.aborted) throw new FetchFault('busy', BUSY);
      if (taken < atOnceMax) {
        taken += 1;
        return release();
      }
      if (waiting.length >= waitingMax) throw new FetchFault('busy', BUSY);
      await new Promise<void>((resolve, reject) => {
        const leave = (): void => {
          waiting.splice(waiting.indexOf(enter), 1);
          reject(new FetchFault('busy', BUSY));
        };
        const enter = (): void => {
          signal.removeEventListener('abort', leave);
          resolve();
        };
        signal.addEventListener('abort', leave, { once: true });
        waiting.push(enter);
      });
      return release();
    },
  };
}

/** So many at once for each key. A key that nobody uses takes no memory. */
export function openKeyedSlots(atOnceMax: number): { take(key: string, signal: AbortSignal): Promise<Release> } {
  const byKey = new Map<string, Slots>();
  return {
    take: async (key, signal) => {
      const slots = byKey.get(key) ?? openSlots(atOnceMax);
      byKey.set(key, slots);
      try {
        const release = await slots.take(signal);
        return () => {
          release();
          if (slots.idle()) byKey.delete(key);
        };
      } catch (error) {
        if (slots.idle()) byKey.delete(key);
        throw error;
      }
    },
  };
}
