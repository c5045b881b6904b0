/** The members that are active at this moment, in no order. */
export interface ActiveSet<T> {
  /** Adds a member. The returned function removes it, once. */
  add(member: T): () => void;
  /** A copy of the current members. */
  all(): readonly T[];
}

/**
 * A set for thousands of members that come and go each second. A built-in `Set` is too slow for this. When a Set, a Map
 * or an array outgrows its table, V8 leaves the old table as it was. Once that table is in the old generation,
 * everything that it points to survives each minor collection until the next major one, and the table of a Set even
 * points to its successor. This took a third of the processor time of the relay. The array here grows to the largest
 * number of members it ever held, eight bytes each, and never shrinks. The next member reuses a free index.
 */
export function newActiveSet<T extends object>(): ActiveSet<T> {
  const members: (T | undefined)[] = [];
  const freeIndexes: number[] = [];
  return {
    add: (member) => {
      const index = freeIndexes.pop() ?? members.length;
      members[index] = member;
      let isMember = true;
      return () => {
        if (!isMember) return;
        isMember = false;
        members[index] = undefined;
        freeIndexes.push(index);
      };
    },
    all: () => members.filter((member) => member !== undefined),
  };
}
