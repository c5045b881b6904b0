import { toReadable } from './contract.ts';
import { joinLines } from './table.ts';

/** Writes an answer for a person: a list as a table, an object line by line. */
export function describeAnswer(answer: unknown): string {
  const readable = toReadable(answer);
  return formatValue(unwrap(readable));
}

/** Most answers of a service have one member, which needs no name. */
function unwrap(value: unknown): unknown {
  if (!isObject(value)) return value;
  const [inner, ...rest] = Object.values(value);
  return rest.length === 0 && isObject(inner) ? inner : value;
}

function formatValue(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : formatTable(value as readonly unknown[]);
  if (!isObject(value)) return formatCell(value);
  const entries = Object.entries(value).flatMap(([name, inner]) =>
    inner === undefined ? [] : [[joinLines(name), inner] as const],
  );
  const width = Math.max(...entries.map(([name]) => name.length));
  const lines = entries.map(([name, inner]) =>
    isBlock(inner) ? `${name}\n${indent(formatValue(inner))}` : `${name.padEnd(width)}  ${formatCell(inner)}`,
  );
  return lines.length === 0 ? 'done' : lines.join('\n');
}

function formatTable(rows: readonly unknown[]): string {
  const objects = rows.filter(isObject);
  if (objects.length < rows.length) return rows.map(formatCell).join('\n');
  const names = [...new Set(objects.flatMap(Object.keys))];
  const cells = [names, ...objects.map((row) => names.map((name) => formatCell(row[name])))];
  const widths = names.map((_name, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map((row) =>
      row
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function formatCell(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? joinLines(value) : JSON.stringify(value);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reports whether a value gets lines of its own below its name. */
function isBlock(value: unknown): boolean {
  return Array.isArray(value) ? isObject(value[0]) : isObject(value) && Object.keys(value).length > 0;
}

function indent(text: string): string {
  return text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
}
