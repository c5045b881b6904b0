import type { Clock } from '../clock.ts';
import { newWindowLog } from './window-log.ts';

/** Takes of one second. */
export interface Takes {
  readonly key: number;
  readonly count: number;
  /** Milliseconds since the last of them. */
  readonly ageMs: number;
}

/** The calls that this replica took in the last minute, and the part of them that the shared state has counted. */
export interface OwnTakes {
  addCounted(): void;
  addUncounted(): void;
  uncounted(): readonly Takes[];
  /** The shared state has counted these now. */
  counted(takes: readonly Takes[]): void;
  /** The shared state has lost all that it had counted. */
  lost(): void;
}

export function newOwnTakes(clock: Clock): OwnTakes {
  const log = newWindowLog(clock);
  const counted = new Map<number, number>();
  const count = (key: number, more: number): void => {
    const seconds = log.seconds();
    if (seconds.has(key)) counted.set(key, (counted.get(key) ?? 0) + more);
    for (const old of counted.keys()) if (!seconds.has(old)) counted.delete(old);
  };
  return {
    addCounted: () => {
      log.add(1);
      count([...log.seconds().keys()].at(-1) ?? 0, 1);
    },
    addUncounted: () => {
      log.add(1);
    },
    uncounted: () => {
      const now = log.time();
      return [...log.seconds()].flatMap(([key, { count: all, lastAt }]) => {
        const left = all - (counted.get(key) ?? 0);
        return left > 0 ? [{ key, count: left, ageMs: now - lastAt }] : [];
      });
    },
    counted: (takes) => {
      for (const one of takes) count(one.key, one.count);
    },
    lost: () => {
      counted.clear();
    },
  };
}
