/**
 * Returns a line of a CSV file (RFC 4180) that no spreadsheet runs as a formula: a quote stands before each sign that
 * begins a formula. Spreadsheets of many countries separate cells by `;` and read a quoted cell of ours as the middle of
 * a cell, so each part of a cell after such a separator or a line break counts as a beginning too.
 */
export function formatCsvLine(cells: readonly string[]): string {
  return `${cells.map(escapeCell).join(',')}\r\n`;
}

/** The signs that begin a formula, with their wide and small forms and the true minus. */
const SIGNS = '=+\\-@\u2212\uFE62\uFE63\uFE66\uFE6B\uFF0B\uFF0D\uFF1D\uFF20';
/** Each beginning that a sign follows, perhaps after spaces, marks without a width, or quotes. */
const FORMULA_BEGINNINGS = new RegExp(`(^|[;|\\t\\r\\n])(?=(?:[^\\S\\t\\r\\n]|[\\p{Cf}"'])*[${SIGNS}])`, 'gu');
const NEGATIVE_NUMBER = /^-\d+(?:\.\d+)?$/;

function escapeCell(text: string): string {
  const safe = NEGATIVE_NUMBER.test(text) ? text : text.replace(FORMULA_BEGINNINGS, "$1'");
  return /[",;|\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
