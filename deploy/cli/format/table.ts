import type { Outcome } from '../command.ts';
import type { LineWidth } from '../terminal.ts';

export const WIDE_OPTION = { means: 'show all columns and cut no text' } as const;

export interface Column<R> {
  readonly title: string;
  of(row: R): string;
  /** Only a wide table has the column. */
  readonly isWide?: true;
  /** The column becomes narrower if the terminal is too narrow. */
  readonly shrinks?: true;
}

/** Answers a list: as JSON for a program, as a table for a person. */
export function toListOutcome<R>(
  rows: readonly R[],
  toJson: (row: R) => object,
  columns: readonly Column<R>[],
  { terminal, options }: { readonly terminal: LineWidth; readonly options: { readonly wide?: boolean } },
): Outcome {
  return { answer: rows.map((row) => toJson(row)), text: asTable(rows, columns, { terminal, isWide: options.wide }) };
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
  const cells = [shown.map(({ title }) => title), ...rows.map((row) => shown.map((column) => oneLine(column.of(row))))];
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
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ');
}

function countCharacters(text: string): number {
  return [...text].length;
}
