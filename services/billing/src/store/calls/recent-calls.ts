import type { Call } from '../../domain/call.ts';

/** A call takes about 300 bytes. There are two generations of this size. */
const GENERATION_MAX = 20_000;

/**
 * The calls that this process placed last. Their frozen fields need not be read back; only the database knows whether
 * they are open.
 */
export interface RecentCalls {
  get(id: string): Call | undefined;
  add(call: Call): void;
}

/**
 * A whole generation is dropped at once. To remove each call at its end costs more, and slows the garbage collector
 * (see `ActiveSet`).
 */
export function newRecentCalls(): RecentCalls {
  let newest = new Map<string, Call>();
  let older = new Map<string, Call>();
  return {
    get: (id) => newest.get(id) ?? older.get(id),
    add: (call) => {
      if (newest.size >= GENERATION_MAX) {
        older = newest;
        newest = new Map();
      }
      newest.set(call.id, call);
    },
  };
}
