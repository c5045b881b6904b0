import { quantile } from '../load.ts';

export const KINDS = ['create', 'status read', 'relayed call', 'download'] as const;
export type Kind = (typeof KINDS)[number];

const MINUTE_MS = 60_000;
/** Of each kind of call. The first ones say what is wrong. */
const MESSAGES_MAX = 5;

/** What was seen, minute by minute. */
export interface Minutes {
  /** Runs a call and notes how long it took in the minute in which it ended, or why it failed. */
  timed<T>(kind: Kind, call: () => Promise<T>): Promise<T | undefined>;
  memory(mib: number): void;
  p99(kind: Kind, minute: number): number;
  /** The median. */
  memoryIn(minute: number): number;
  calls(kind: Kind): number;
  failed(): number;
  /** Some of the failures. */
  messages(): readonly string[];
}

export function newMinutes(): Minutes {
  const startedAt = performance.now();
  const latencies = new Map<string, number[]>();
  const memories = new Map<number, number[]>();
  const counts: Record<Kind, number> = { create: 0, 'status read': 0, 'relayed call': 0, download: 0 };
  const messages: string[] = [];
  let failed = 0;
  const minute = (): number => Math.floor((performance.now() - startedAt) / MINUTE_MS) + 1;
  return {
    timed: async (kind, call) => {
      const start = performance.now();
      try {
        const result = await call();
        counts[kind] += 1;
        noted(latencies, `${kind} ${minute()}`, performance.now() - start);
        return result;
      } catch (error) {
        failed += 1;
        if (messages.length < MESSAGES_MAX) messages.push(`${kind} in minute ${minute()}: ${String(error)}`);
        return undefined;
      }
    },
    memory: (mib) => {
      noted(memories, minute(), mib);
    },
    p99: (kind, of) => quantile(latencies.get(`${kind} ${of}`) ?? [], 0.99),
    memoryIn: (of) => quantile(memories.get(of) ?? [], 0.5),
    calls: (kind) => counts[kind],
    failed: () => failed,
    messages: () => messages,
  };
}

function noted<Key>(all: Map<Key, number[]>, key: Key, figure: number): void {
  const figures = all.get(key);
  if (figures === undefined) all.set(key, [figure]);
  else figures.push(figure);
}
