/** The ways in which a mutant differs from the product. Each is a mistake that a person can make. */
export const OPERATORS = [
  'turn-condition',
  'swap-logic',
  'shift-bound',
  'turn-equality',
  'shift-number',
  'swap-sign',
  'drop-statement',
  'lose-await',
  'swap-arguments',
  'drop-return',
  'drop-throw',
  'drop-sql-condition',
  'shift-sql-bound',
  'swap-sql-sign',
] as const;

export type Operator = (typeof OPERATORS)[number];

/** A change of one place of a file. */
export interface Edit {
  readonly operator: Operator;
  /** The first character that is replaced, and the one after the last. */
  readonly start: number;
  readonly end: number;
  readonly becomes: string;
}

/** The product with one edit. */
export interface Mutant extends Edit {
  /** The file, line, column and operator, as `--mutant` takes them. It belongs to a commit. */
  readonly name: string;
  /** From the root of the repository. */
  readonly file: string;
  readonly before: string;
}

/** Names an edit of a file. */
export function newMutant(file: string, source: string, edit: Edit): Mutant {
  const lines = source.slice(0, edit.start).split('\n');
  const column = (lines.at(-1)?.length ?? 0) + 1;
  const name = `${file}:${lines.length}:${column}:${edit.operator}`;
  return { ...edit, name, file, before: source.slice(edit.start, edit.end) };
}

/** Returns the source with the edit. */
export function applyEdit(source: string, { start, end, becomes }: Edit): string {
  return source.slice(0, start) + becomes + source.slice(end);
}
