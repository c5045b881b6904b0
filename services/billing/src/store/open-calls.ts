import type { Call } from '../domain/call.ts';

/** Some 300 bytes each. */
const KNOWN_MAX = 50_000;

/** Calls that this process has placed and not ended: what is frozen of them need not be read back. Whether they are open the database says. */
export interface OpenCalls {
  get(id: string): Call | undefined;
  add(calls: Iterable<Call>): void;
  remove(ids: Iterable<string>): void;
}

export function openCalls(): OpenCalls {
  const known = new Map<string, Call>();
  return {
    get: (id) => known.get(id),
    add: (calls) => {
      for (const call of calls) {
        if (known.size >= KNOWN_MAX) return;
        known.set(call.id, call);
      }
    },
    remove: (ids) => {
      for (const id of ids) known.delete(id);
    },
  };
}
