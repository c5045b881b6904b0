import type { DescMessage, Message } from '@bufbuild/protobuf';
import type { GenMessage } from '@bufbuild/protobuf/codegenv2';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { Outcome } from '../command.ts';
import type { LineWidth } from '../terminal.ts';
import { findField, formatField, isTime, labelField } from './contract.ts';
import { relativeTime } from './times.ts';

export const WIDE_OPTION = { means: 'show all columns and cut no text' } as const;

export interface Column<R> {
  readonly title: string;
  of(row: R): string;
  /** Only a wide table has the column. */
  readonly isWide?: true;
  /** The column becomes narrower if the terminal is too narrow. */
  readonly shrinks?: true;
}

type FieldName<M> = Exclude<keyof M, keyof Message> & string;
/** The name of a field of a message, or its path through at most three messages, such as `task.order.model`. */
export type FieldPath<M, Depth extends readonly 0[] = []> = {
  [N in FieldName<M>]: NonNullable<M[N]> extends Timestamp
    ? N
    : NonNullable<M[N]> extends Message
      ? Depth['length'] extends 2
        ? never
        : `${N}.${FieldPath<NonNullable<M[N]>, [...Depth, 0]>}`
      : N;
}[FieldName<M>];

/** A column that shows a field of a message. */
interface FieldColumn<Path extends string> extends Omit<Column<never>, 'title' | 'of'> {
  readonly field: Path;
  /** The name of the field if absent. */
  readonly title?: string;
  /** Zero stands for a setting that is not set. */
  readonly isBlankAtZero?: true;
}

/**
 * Lists the columns of a table of messages. A field gets its title and its form from the contract; a time gets two
 * columns: how long ago it was, and, in a wide table, the time itself.
 */
export function listColumns<M extends Message>(
  schema: GenMessage<M>,
  columns: readonly (FieldPath<M> | FieldColumn<FieldPath<M>> | Column<M>)[],
): readonly Column<M>[] {
  return (columns as readonly (string | FieldColumn<string> | Column<M>)[]).flatMap((column) => {
    if (typeof column === 'string') return toFieldColumns(schema, { field: column });
    return 'of' in column ? [column] : toFieldColumns(schema, column);
  });
}

function toFieldColumns(schema: DescMessage, { field: path, ...column }: FieldColumn<string>): Column<Message>[] {
  const field = findField(schema, path);
  const { title = labelField(field).replace(/_id$/, '').replaceAll('_', ' ').toUpperCase(), isBlankAtZero } = column;
  const read = (row: Message): unknown => readPath(row, path);
  if (!isTime(field)) {
    const of = (row: Message): string => (isBlankAtZero && read(row) === 0 ? '' : formatField(field, read(row)));
    return [{ ...column, title, of }];
  }
  const name = title.replace(/ AT$/, '');
  const exact: Column<Message> = { title: `${name} AT`, of: (row) => formatField(field, read(row)), isWide: true };
  const relative = { title: name, of: (row: Message) => relativeTime(read(row) as Timestamp | undefined) };
  return column.isWide ? [exact] : [relative, exact];
}

function readPath(row: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], row);
}

/** Answers a list: as JSON for a program, as a table for a person. */
export function toListOutcome<R>(
  answer: object,
  rows: readonly R[],
  columns: readonly Column<R>[],
  { terminal, options }: { readonly terminal: LineWidth; readonly options: { readonly wide?: boolean } },
): Outcome {
  return { answer, text: asTable(rows, columns, { terminal, isWide: options.wide }) };
}

const GAP = '  ';
const SHRUNK_MIN = 8;
const ELLIPSIS = '…';

/** Rows under titles. On a terminal no line is longer than the terminal, except in a wide table. */
export function asTable<R>(
  rows: readonly R[],
  columns: readonly Column<R>[],
  { terminal, isWide = false }: { readonly terminal: LineWidth; readonly isWide?: boolean | undefined },
): string {
  if (rows.length === 0) return 'none';
  const shown = columns.filter((column) => isWide || column.isWide !== true);
  const cells = [
    shown.map(({ title }) => title),
    ...rows.map((row) => shown.map((column) => joinLines(column.of(row)))),
  ];
  const natural = shown.map((_, at) => Math.max(...cells.map((row) => countCharacters(row[at] ?? ''))));
  const widths = isWide || terminal.columns === undefined ? natural : fitWidths(shown, natural, terminal.columns);
  return cells
    .map((row) =>
      row
        .map((text, at) => cut(text, widths[at] ?? 0))
        .join(GAP)
        .trimEnd(),
    )
    .join('\n');
}

/** Takes the missing width from the columns that shrink, the widest first. */
function fitWidths(columns: readonly Column<never>[], natural: readonly number[], available: number): number[] {
  const widths = [...natural];
  let over = widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length) - available;
  while (over > 0) {
    const widest = Math.max(...widths.filter((width, at) => columns[at]?.shrinks === true && width > SHRUNK_MIN));
    const at = widths.findIndex((width, index) => columns[index]?.shrinks === true && width === widest);
    if (at === -1) break;
    widths[at] = widest - 1;
    over -= 1;
  }
  return widths;
}

function cut(text: string, width: number): string {
  const letters = [...text];
  const kept = letters.length <= width ? text : letters.slice(0, width - 1).join('') + ELLIPSIS;
  return kept + ' '.repeat(Math.max(0, width - countCharacters(kept)));
}

/** Text of a client may hold line ends and control characters, which would break the table or control the terminal. */
export function joinLines(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ');
}

function countCharacters(text: string): number {
  return [...text].length;
}
