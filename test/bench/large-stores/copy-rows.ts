import { firstIdAt } from '@reelgate/platform/ids';
import type { Sql, SqlValue } from '@reelgate/platform/sql/sql';
import { isTime, namesIn } from './template-rows.ts';
import type { TemplateRow } from './template-rows.ts';

/** Copies that one transaction writes. */
const BATCH = 20_000;
/** The letters of an id that say its time. The rest counts. */
const TIME_LETTERS = 10;
const ORDERED = /^([a-z]+)_[0-9a-v]{26}$/;
/** Spreads consecutive numbers over all numbers of 32 bits. It is odd, so no two of them meet. */
const SCATTER = '2654435761 % 4294967296';
const SCATTERED_DIGITS = 10;

export interface Copies {
  readonly count: number;
  /** The time of the template. Copy `n` is `(count + 1 - n) * stepMs` older. */
  readonly at: number;
  readonly stepMs: number;
  /** The names of the template. No two of them give the same name, in any copy. */
  readonly names: readonly string[];
}

/** Writes copies of a thing's rows, each with names and times of its own, in the order of their times. */
export async function copyRows(database: Sql, rows: readonly TemplateRow[], copies: Copies): Promise<void> {
  for (let first = 1; first <= copies.count; first += BATCH) {
    const last = Math.min(copies.count, first + BATCH - 1);
    await database.transaction(async (query) => {
      for (const row of rows) {
        const { text, values } = statementOf(row, { first, last, ...copies });
        await query.changes(text, values);
      }
    });
  }
}

interface Batch extends Copies {
  readonly first: number;
  readonly last: number;
}

type Parameter = (value: string) => string;

function statementOf(
  { table, values: template }: TemplateRow,
  batch: Batch,
): { readonly text: string; readonly values: readonly SqlValue[] } {
  const values: SqlValue[] = [];
  const parameter: Parameter = (value) => `CAST($${values.push(value)} AS TEXT)`;
  const cells = Object.entries(template).map(([column, value]) => {
    if (isTime(column, value)) return `${value} - (${batch.count + 1} - n) * ${batch.stepMs}`;
    // places of events are unique, and those of the copies lie before that of the template
    if (column === 'seq' && value !== null) return `${value} - (${batch.count + 1} - n)`;
    return typeof value === 'string' ? renamed(value, batch, parameter) : String(value ?? 'NULL');
  });
  return {
    text: `WITH RECURSIVE numbers (n) AS (SELECT CAST(${batch.first} AS BIGINT)
        UNION ALL SELECT n + 1 FROM numbers WHERE n < ${batch.last})
      INSERT INTO ${table} (${Object.keys(template).join(', ')}) SELECT ${cells.join(', ')} FROM numbers`,
    values,
  };
}

/** The text with the copy's own names in place of the template's. */
function renamed(text: string, batch: Batch, parameter: Parameter): string {
  const names = namesIn(text);
  let rest = text;
  const parts = names.flatMap((name) => {
    const at = rest.indexOf(name);
    const before = rest.slice(0, at);
    rest = rest.slice(at + name.length);
    return [...(before === '' ? [] : [parameter(before)]), nameOf(name, batch)];
  });
  return [...parts, ...(rest === '' && parts.length > 0 ? [] : [parameter(rest)])].join(' || ');
}

/** The name of copy `n`, as long as this name: one that sorts by time sorts so too, any other is scattered. */
function nameOf(name: string, { count, at, stepMs, first, names }: Batch): string {
  const number = `(n * ${names.length} + ${names.indexOf(name)})`;
  const prefix = ORDERED.exec(name)?.[1];
  if (prefix !== undefined) {
    const head = firstIdAt(prefix, at - (count + 1 - first) * stepMs).slice(0, prefix.length + 1 + TIME_LETTERS);
    return `'${head}' || ${digits(number, name.length - head.length)}`;
  }
  const head = name.slice(0, name.indexOf('_') + 1);
  const rest = name.length - head.length - SCATTERED_DIGITS;
  return `'${head}' || ${digits(`(${number} * ${SCATTER})`, SCATTERED_DIGITS)} || ${digits(number, rest)}`;
}

/** The number with zeros before it; its last digits, if it has more. */
const digits = (number: string, length: number): string =>
  `substr('${'0'.repeat(length)}' || ${number}, length('' || ${number}) + 1)`;
