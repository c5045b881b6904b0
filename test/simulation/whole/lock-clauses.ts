import { formatKey } from './watched-rows.ts';
import type { WatchedTable } from './watched-rows.ts';

/** A statement as SQLite runs it. */
export interface PlainStatement {
  readonly text: string;
  /** The table whose rows the statement locks and returns. Each returned row names it in the column `LOCKED_ROW`. */
  readonly locks: WatchedTable | undefined;
}

export const LOCKED_ROW = 'locked row';
const CLAUSE = /\bFOR UPDATE( SKIP LOCKED)?/;
/** A text in quotes is matched as a whole, so that no word is found in it. */
const WORDS = /'[^']*'|[()]|\b(?:SELECT|FROM|WHERE|ORDER|GROUP|LIMIT)\b/g;
const AFTER_CONDITION: ReadonlySet<string> = new Set(['ORDER', 'GROUP', 'LIMIT']);
const TABLES = /\b(?:FROM|JOIN)\s+(\w+)/g;

/**
 * Takes the lock clause out of a statement. With `SKIP LOCKED`, its SELECT leaves out the rows that others hold. A SELECT
 * that is no part of another statement names the rows that it locks. The UPDATE or DELETE around one locks them itself.
 */
export function replaceLockClause(text: string, tables: ReadonlyMap<string, WatchedTable>): PlainStatement {
  const clause = CLAUSE.exec(text);
  if (clause === null) return { text, locks: undefined };
  const [before, after] = [text.slice(0, clause.index), text.slice(clause.index + clause[0].length)];
  const { select, from, where, end } = findParts(before);
  const table = Array.from(before.slice(from, where).matchAll(TABLES), ([, name = '']) => tables.get(name)).find(
    (known) => known !== undefined,
  );
  if (table === undefined || select < 0 || where < 0)
    throw new Error(`a lock clause needs a table and a condition: ${text}`);
  const condition = before.slice(where + 'WHERE'.length, end);
  const key = table.primaryKey.map((column) => `${table.name}.${column}`).join(', ');
  const unlocked = clause[1] === undefined ? '' : ` AND NOT is_locked(${table.number}, ${key})`;
  const isWhole = select === 0 && after.trim() === '';
  return {
    text: [
      before.slice(0, from),
      isWhole ? `, ${formatKey(table)} AS "${LOCKED_ROW}" ` : '',
      before.slice(from, where),
      `WHERE (${condition})${unlocked} `,
      before.slice(end),
      after,
    ].join(''),
    locks: isWhole ? table : undefined,
  };
}

/** The places of the parts of the last SELECT of a text that is still open at its end. */
interface SelectParts {
  select: number;
  from: number;
  where: number;
  end: number;
}

function findParts(text: string): SelectParts {
  const newParts = (): SelectParts => ({ select: -1, from: -1, where: -1, end: text.length });
  const open: SelectParts[] = [newParts()];
  for (const { 0: word, index } of text.matchAll(WORDS)) {
    const parts = open.at(-1)!;
    if (word === '(') open.push(newParts());
    else if (word === ')') open.pop();
    else if (word === 'SELECT') Object.assign(parts, newParts(), { select: index });
    else if (word === 'FROM') parts.from = parts.from < 0 ? index : parts.from;
    else if (word === 'WHERE') parts.where = parts.where < 0 ? index : parts.where;
    else if (AFTER_CONDITION.has(word) && parts.where >= 0) parts.end = Math.min(parts.end, index);
  }
  return open.at(-1)!;
}
