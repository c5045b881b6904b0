/** A statement that a server keeps ready for its connection. */
export interface NamedStatement {
  readonly name: string;
  /** True if the server does not have its text yet. */
  readonly isNew: boolean;
}

/**
 * The statements that the server keeps ready for one connection, so that it neither parses nor plans them again: a turn
 * of the queue costs half as much. They outlive a transaction, so they are only for a connection to the server itself.
 */
export interface NamedStatements {
  /** Returns the name for the next use of a text. Undefined: the statement is rare, and travels without a name. */
  findName(text: string): NamedStatement | undefined;
  /** Call after a message with these texts failed: which of them reached the server is not known. */
  forget(texts: readonly string[]): void;
  /** Returns the names that the server no longer needs, once. */
  takeUnused(): readonly string[];
}

/** A statement that was used this often on a connection gets a name. */
const USES_MIN = 3;
/** The server keeps the plan of each, and some of them have fifty kilobytes. */
const NAMES_MAX = 100;
/** Texts whose uses are counted. A statement for many rows has a text for each number of rows. */
const COUNTED_MAX = 1000;

export function newNamedStatements(): NamedStatements {
  /** In the order of their last use. */
  const names = new Map<string, string>();
  const uses = new Map<string, number>();
  let given = 0;
  const unused: string[] = [];
  const drop = (text: string): void => {
    const name = names.get(text);
    if (name === undefined) return;
    names.delete(text);
    unused.push(name);
  };
  const isFrequent = (text: string): boolean => {
    const count = (uses.get(text) ?? 0) + 1;
    if (count >= USES_MIN) return true;
    if (uses.size >= COUNTED_MAX) uses.clear();
    uses.set(text, count);
    return false;
  };
  return {
    findName: (text) => {
      const known = names.get(text);
      if (known === undefined && !isFrequent(text)) return undefined;
      const name = known ?? `s${(given += 1)}`;
      names.delete(text);
      names.set(text, name);
      const [oldest] = names.keys();
      if (names.size > NAMES_MAX && oldest !== undefined) drop(oldest);
      return { name, isNew: known === undefined };
    },
    forget: (texts) => {
      for (const text of texts) drop(text);
    },
    takeUnused: () => unused.splice(0),
  };
}
