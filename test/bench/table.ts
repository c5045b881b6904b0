/** A line of the table: a figure, or the reason why it is missing. */
export type Line = Figure | { readonly what: string; readonly skipped: string };

interface Figure {
  readonly what: string;
  readonly figure: number;
  readonly unit: string;
  /** The same figure of the baseline, from the same run. */
  readonly baseline?: number;
  readonly goal?: string;
}

const HEAD = ['what', 'figure', 'baseline', 'ratio', 'goal'];

export function table(lines: readonly Line[]): string {
  const rows = [HEAD, ...lines.map(cellsOf)];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
        .join('  '),
    )
    .join('\n');
}

function cellsOf(line: Line): readonly string[] {
  if ('skipped' in line) return [line.what, 'skipped', '', '', line.skipped];
  const { what, figure, unit, baseline, goal = '' } = line;
  const shown = (value: number): string => `${value >= 100 ? value.toFixed(0) : value.toPrecision(3)} ${unit}`;
  return [
    what,
    shown(figure),
    baseline === undefined ? '' : shown(baseline),
    baseline === undefined ? '' : (figure / baseline).toFixed(2),
    goal,
  ];
}
