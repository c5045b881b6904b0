import type { Call } from '../../domain/call.ts';

/** Some 300 bytes each; there are two generations of this size. */
const GENERATION_MAX = 20_000;

/** The calls that this process has placed last: what is frozen of them need not be read back. Whether they are still open the database says. */
export interface OpenCalls {
  get(id: string): Call | undefined;
  add(call: Call): void;
}

/** A generation is dropped whole: to take each out when it ends costs more, and lets the collector keep what was taken out (see `ActiveSet`). */
export function openCalls(): OpenCalls {
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
