/** What a statement did with a row. */
export interface TouchedRow {
  /** `insert`: it tried to add the row. `lock`: it only locked the row. */
  readonly act: 'insert' | 'write' | 'delete' | 'lock';
  /** The table and the primary key of the row. */
  readonly row: string;
  /** The values of the row in each unique index. */
  readonly entries: readonly string[];
}

/** The first of the touched rows that waits for another transaction. */
export interface Conflict<T> {
  readonly at: number;
  readonly blocker: T;
}

/** The locks of all open transactions `T` of a database. Each has one holder, until the end of its transaction. */
export interface ServerLocks<T> {
  findConflict(transaction: T, touched: readonly TouchedRow[]): Conflict<T> | undefined;
  take(transaction: T, touched: readonly TouchedRow[]): void;
  /** Reports whether another transaction holds the row. */
  isHeldByOther(transaction: T, row: string): boolean;
  /** Reports whether another transaction holds anything. */
  hasOthers(transaction: T): boolean;
  /** Returns the rows that the transaction removed. One that it added again under the same key is another row. */
  listRemoved(transaction: T): ReadonlySet<string>;
  release(transaction: T): void;
}

const NONE: ReadonlySet<string> = new Set();

/**
 * A write locks its row and the entries of the row in every unique index. An insert waits for a transaction that wrote
 * a row with the same entry, and not for one that only locked it, as PostgreSQL does.
 */
export function openServerLocks<T>(): ServerLocks<T> {
  const holders = new Map<string, T>();
  const held = new Map<T, Set<string>>();
  const removed = new Map<T, Set<string>>();
  const findOther = (transaction: T, names: readonly string[]): T | undefined => {
    for (const name of names) {
      const holder = holders.get(name);
      if (holder !== undefined && holder !== transaction) return holder;
    }
    return undefined;
  };
  const hold = (transaction: T, names: readonly string[]): void => {
    let own = held.get(transaction);
    if (own === undefined) {
      own = new Set();
      held.set(transaction, own);
    }
    for (const name of names) {
      own.add(name);
      holders.set(name, transaction);
    }
  };
  return {
    findConflict: (transaction, touched) => {
      for (const [at, { act, row, entries }] of touched.entries()) {
        const blocker =
          (act === 'insert' ? undefined : findOther(transaction, [row])) ??
          (act === 'lock' ? undefined : findOther(transaction, entries));
        if (blocker !== undefined) return { at, blocker };
      }
      return undefined;
    },
    take: (transaction, touched) => {
      for (const { act, row, entries } of touched) {
        if (act === 'insert') continue;
        hold(transaction, [row]);
        if (act !== 'lock') hold(transaction, entries);
        if (act === 'delete') removed.set(transaction, new Set(removed.get(transaction)).add(row));
      }
    },
    isHeldByOther: (transaction, row) => findOther(transaction, [row]) !== undefined,
    hasOthers: (transaction) => held.size > (held.has(transaction) ? 1 : 0),
    listRemoved: (transaction) => removed.get(transaction) ?? NONE,
    release: (transaction) => {
      for (const name of held.get(transaction) ?? []) holders.delete(name);
      held.delete(transaction);
      removed.delete(transaction);
    },
  };
}
