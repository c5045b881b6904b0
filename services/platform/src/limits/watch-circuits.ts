import type { Clock } from '../clock.ts';
import type { Circuit } from './circuit-breaker.ts';

/** A circuit under the name of the peer that it protects. */
export interface NamedCircuit {
  readonly id: string;
  readonly circuit: Pick<Circuit, 'state'>;
}

export interface CircuitChange {
  readonly at: number;
  readonly type: 'circuit_opened' | 'circuit_closed';
  readonly subject: string;
}

export interface CircuitWatch {
  /** Writes which circuits have opened or closed since the last pass. After an error the next pass writes them. */
  pass(): Promise<void>;
}

/**
 * Detects circuits that open and close. An open circuit stays open for half a minute or until a call works, so passes
 * every few seconds miss only circuits that a call closed immediately. A circuit that is no longer listed has not
 * closed.
 */
export function newCircuitWatch(
  list: () => readonly NamedCircuit[],
  write: (changes: readonly CircuitChange[]) => Promise<void>,
  clock: Clock,
): CircuitWatch {
  let open: ReadonlySet<string> = new Set();
  return {
    pass: async () => {
      const at = clock.now();
      const all = list();
      const listed = new Set(all.map(({ id }) => id));
      const now = new Set(all.flatMap(({ id, circuit }) => (circuit.state() === 'closed' ? [] : [id])));
      const opened = [...now.difference(open)].map((subject) => ({ at, type: 'circuit_opened' as const, subject }));
      const closed = [...open.intersection(listed).difference(now)].map((subject) => ({
        at,
        type: 'circuit_closed' as const,
        subject,
      }));
      if (opened.length + closed.length > 0) await write([...opened, ...closed]);
      open = now;
    },
  };
}
