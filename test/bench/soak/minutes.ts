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
  /** `of` names the process if there are several. */
  memory(mib: number, of?: string): void;
  latency(share: number, kind: Kind, minute: number): number;
  /** The median. */
  memoryIn(minute: number, of?: string): number;
  calls(kind: Kind): number;
  failed(): number;
  /** Some of the failures. */
  messages(): readonly string[];
}

export function newMinutes(): Minutes {
  const startedAt = performance.now();
  const latencies = new Map<string, number[]>();
  const memories = new Map<string, number[]>();
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
    memory: (mib, of = '') => {
      noted(memories, `${of} ${minute()}`, mib);
    },
    latency: (share, kind, at) => quantile(latencies.get(`${kind} ${at}`) ?? [], share),
    memoryIn: (at, of = '') => quantile(memories.get(`${of} ${at}`) ?? [], 0.5),
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
