/** A line of the table: a figure, or the reason why it is missing. */
export type Line =
  Figure | { readonly what: string; readonly skipped: string } | { readonly what: string; readonly failed: string };

interface Figure {
  readonly what: string;
  readonly figure: number;
  readonly unit: string;
  /** The same figure of the baseline, from the same run. */
  readonly baseline?: number;
  /** The median of the rounds' ratios. The default is the ratio of the two figures. */
  readonly ratio?: number;
  readonly goal?: string;
}

/** A benchmark that fails does not lose the figures of the others. */
export async function linesOrFailure(what: string, bench: () => Promise<readonly Line[]>): Promise<readonly Line[]> {
  try {
    return await bench();
  } catch (error) {
    console.error(error);
    return [{ what, failed: error instanceof Error ? error.message : String(error) }];
  }
}

/** Tells a ratio of 1.01 from one of 1.014. */
const RATIO_DIGITS = 3;
const HEAD = ['what', 'figure', 'baseline', 'ratio', 'goal'];

export function table(lines: readonly Line[]): string {
  const rows = [HEAD, ...lines.map(cellsOf)];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** The same lines for programs, with what they depend on. A figure that could not be taken is null. */
export function jsonOf(lines: readonly Line[], machine: Readonly<Record<string, string | number>>): string {
  const figures = lines.map((line) => ('figure' in line ? { ...line, ratio: ratioOf(line) } : line));
  return `${JSON.stringify({ machine, figures }, undefined, 2)}\n`;
}

const ratioOf = ({ figure, baseline, ratio }: Figure): number | undefined =>
  ratio ?? (baseline === undefined ? undefined : figure / baseline);

function cellsOf(line: Line): readonly string[] {
  if ('skipped' in line) return [line.what, 'skipped', '', '', line.skipped];
  if ('failed' in line) return [line.what, 'failed', '', '', line.failed];
  const { what, figure, unit, baseline, goal = '' } = line;
  const digits = (value: number): string => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3));
  const shown = (value: number): string => `${Number.isInteger(value) ? String(value) : digits(value)} ${unit}`.trim();
  return [
    what,
    shown(figure),
    baseline === undefined ? '' : shown(baseline),
    ratioOf(line)?.toFixed(RATIO_DIGITS) ?? '',
    goal,
  ];
}
