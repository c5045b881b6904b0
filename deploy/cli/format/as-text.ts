/** An answer as text for a person: a list as a table, an object line by line. */
export function asText(answer: unknown): string {
  if (Array.isArray(answer)) return answer.length === 0 ? 'none' : table(answer as Readonly<Record<string, unknown>>[]);
  if (typeof answer !== 'object' || answer === null) return cell(answer);
  const entries = Object.entries(answer).filter(([, value]) => value !== undefined);
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries
    .map(([name, value]) =>
      isList(value) ? `${name}\n${indent(asText(value))}` : `${name.padEnd(width)}  ${cell(value)}`,
    )
    .join('\n');
}

function table(rows: readonly Readonly<Record<string, unknown>>[]): string {
  if (typeof rows[0] !== 'object') return rows.map(cell).join('\n');
  const names = [...new Set(rows.flatMap(Object.keys))];
  const cells = [names, ...rows.map((row) => names.map((name) => cell(row[name])))];
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

function cell(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isList(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && typeof value[0] === 'object';
}

function indent(text: string): string {
  return text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
}
