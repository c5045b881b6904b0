/** Those who are here now, in no order. */
export interface Roster<T> {
  /** Puts it in; calling what is returned takes it out, once. */
  add(member: T): () => void;
  /** Those who are in at this moment, whatever happens to them meanwhile. */
  all(): readonly T[];
}

interface Entry<T> {
  readonly member: T;
  at: number;
}

/**
 * For thousands that come and go each second, where a Set is a trap: V8 links each table that a Set or a Map has outgrown to the next one,
 * so once one of them is in the old generation, all that were ever in the later ones survive every minor collection until a major one.
 * Measured: a third of the processor time of the relay.
 */
export function roster<T>(): Roster<T> {
  const entries: Entry<T>[] = [];
  return {
    add: (member) => {
      const entry = { member, at: entries.length };
      entries.push(entry);
      return () => {
        if (entries[entry.at] !== entry) return;
        const last = entries.pop() as Entry<T>;
        if (last === entry) return;
        entries[entry.at] = last;
        last.at = entry.at;
      };
    },
    all: () => entries.map(({ member }) => member),
  };
}
