/** A column of an answer, and how its text is read. */
export interface AnswerColumn {
  readonly name: string;
  readonly read: (text: string) => unknown;
}

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
  /** Returns the name for the next use of a text, or undefined if the statement is rare and is sent without a name. */
  findName(text: string): NamedStatement | undefined;
  /** Call after a message with these texts failed: which of them reached the server is not known. */
  forget(texts: readonly string[], error: unknown): void;
  /** Returns the names that the server no longer needs, once. */
  takeUnused(): readonly string[];
  /** The columns of the named statements that have been described. */
  readonly columns: Map<string, readonly AnswerColumn[]>;
}

/** A statement that was used this often on a connection gets a name. */
const USES_MIN = 3;
/** The server keeps the plan of each in the memory of its connection. */
const NAMES_MAX = 100;
/** The maximum number of texts with counted uses. A statement for many rows has a text for each number of rows. */
const COUNTED_MAX = 1000;

/** `onPooler` is called when the server does not know a prepared statement, so there is a pooler after all. */
export function newNamedStatements(onPooler: () => void = () => undefined): NamedStatements {
  /** In the order of their last use. */
  const names = new Map<string, string>();
  const uses = new Map<string, number>();
  let given = 0;
  let isPooled = false;
  const unused: string[] = [];
  const columns = new Map<string, readonly AnswerColumn[]>();
  const drop = (text: string): void => {
    const name = names.get(text);
    if (name === undefined) return;
    names.delete(text);
    columns.delete(name);
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
      if (isPooled) return undefined;
      const known = names.get(text);
      if (known === undefined && !isFrequent(text)) return undefined;
      const name = known ?? `s${(given += 1)}`;
      names.delete(text);
      names.set(text, name);
      const [oldest] = names.keys();
      if (names.size > NAMES_MAX && oldest !== undefined) drop(oldest);
      return { name, isNew: known === undefined };
    },
    forget: (texts, error) => {
      for (const text of texts) drop(text);
      if (!isUnknownName(error)) return;
      isPooled = true;
      onPooler();
    },
    takeUnused: () => unused.splice(0),
    columns,
  };
}

/** The SQLSTATE of a name that the server does not know, and of a name that it has for another text. */
const UNKNOWN_NAME: ReadonlySet<unknown> = new Set(['26000', '42P05']);

function isUnknownName(error: unknown): boolean {
  return UNKNOWN_NAME.has((error as { readonly code?: unknown } | undefined)?.code);
}
