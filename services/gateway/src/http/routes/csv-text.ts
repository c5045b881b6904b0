/** A line of a CSV file (RFC 4180). A leading quote keeps a spreadsheet from running a cell as a formula. */
export function formatCsvLine(cells: readonly string[]): string {
  return `${cells.map(escapeCell).join(',')}\r\n`;
}

function escapeCell(text: string): string {
  const safe = /^[=+@\t]|^-(?![\d.]+$)/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
