import ts from 'typescript';
import type { Edit, Operator } from './mutant.ts';

/** A text with one of these words in capital letters is SQL. */
const SQL = /\b(SELECT|UPDATE|INSERT INTO|DELETE FROM|WHERE|CASE WHEN|AND)\b/;
/** A condition ends before these. */
const NEXT =
  /^(AND|OR|ORDER BY|GROUP BY|HAVING|LIMIT|OFFSET|RETURNING|ON CONFLICT|FOR|UNION|WHEN|THEN|ELSE|END|AS|LEFT|JOIN)\b/;
const BOUND = /(?<=\s)(<=|>=|<|>)(?=\s)/g;
const SIGN = /(?<=\s)[+-](?=\s)/g;
/** Stands for each character of a value or a text, which have no operators of the statement. */
const MASK = '§';
/** A constant in the text, such as `${UNFINISHED}`. It holds a condition, and never an optional clause. */
const CONSTANT = /^\$\{[A-Z_]+\}$/;
const EXPECTS_VALUE = /\b(IN|LIKE|ANY|NOT|BETWEEN|AND|OR|IS|FROM)\s+$/;

const SHIFTED: Readonly<Record<string, string>> = { '<=': '<', '<': '<=', '>=': '>', '>': '>=' };

/** Lists the edits of the SQL in a text. Its values and quoted texts stay as they are. */
export function listSqlEdits(node: ts.Node): readonly Edit[] {
  const masked = maskSql(node);
  if (masked === undefined || !SQL.test(masked)) return [];
  const at = node.getStart();
  const edit = (operator: Operator, start: number, end: number, becomes: string): Edit => ({
    ...{ operator, becomes },
    start: at + start,
    end: at + end,
  });
  return [
    ...listConditions(masked, node.getText()).map(([start, end]) =>
      // not removed: a statement whose parameter stands nowhere is refused
      edit('drop-sql-condition', start, end, `(${node.getText().slice(start, end)} OR TRUE)`),
    ),
    ...[...masked.matchAll(BOUND)].map(({ index, 0: sign }) =>
      edit('shift-sql-bound', index, index + sign.length, SHIFTED[sign] ?? sign),
    ),
    ...[...masked.matchAll(SIGN)].map(({ index, 0: sign }) =>
      edit('swap-sql-sign', index, index + 1, sign === '+' ? '-' : '+'),
    ),
  ];
}

/** Returns a text of the source, with each value, quoted text and delimiter masked. Undefined if the node is no text. */
function maskSql(node: ts.Node): string | undefined {
  const text = node.getText();
  const inner = (from: string): string => MASK + maskQuoted(from.slice(1, -1)) + MASK;
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return inner(text);
  if (!ts.isTemplateExpression(node)) return undefined;
  const at = node.getStart();
  const masked = node.templateSpans.reduce((sofar, { expression, literal }) => {
    const [start, end] = [expression.getFullStart() - at - '${'.length, literal.getStart() - at + 1];
    return sofar.slice(0, start) + MASK.repeat(end - start) + sofar.slice(end);
  }, text);
  return inner(masked);
}

function maskQuoted(sql: string): string {
  return sql.replaceAll(/'[^']*'/g, (quoted) => MASK.repeat(quoted.length));
}

/** Lists where the conditions after an `AND` start and end. */
function listConditions(masked: string, text: string): readonly (readonly [number, number])[] {
  return [...masked.matchAll(/\bAND\s+/g)].flatMap(({ index, 0: word }) => {
    const start = index + word.length;
    const end = findConditionEnd(masked, start);
    return isCondition(text.slice(start, end)) && !isInBetween(masked.slice(0, index)) ? [[start, end] as const] : [];
  });
}

function findConditionEnd(masked: string, start: number): number {
  let depth = 0;
  let end = start;
  // the last character is the delimiter of the text
  for (let at = start; at < masked.length - 1; at += 1) {
    const char = masked.charAt(at);
    if (char === '(') depth += 1;
    if (char === ')') depth -= 1;
    if (depth < 0 || (depth === 0 && startsNext(masked, start, at))) return end;
    if (!/[\s,]/.test(char)) end = at + 1;
  }
  return end;
}

/** Reports whether something else than the condition starts here: a word, or a value that holds a clause of its own. */
function startsNext(masked: string, start: number, at: number): boolean {
  if (masked.charAt(at) === MASK) {
    const before = masked.slice(start, at);
    return /[\w)§]\s+$/.test(before) && !EXPECTS_VALUE.test(before);
  }
  return !/\w/.test(masked.charAt(at - 1)) && NEXT.test(masked.slice(at));
}

/** A value alone may be a clause that is empty, unless a constant holds it. */
function isCondition(text: string): boolean {
  if (/^\$\{[^}]*\}$/.test(text)) return CONSTANT.test(text);
  return text !== '' && !text.startsWith('CASE');
}

/** The `AND` of `BETWEEN … AND …` joins two values. */
function isInBetween(before: string): boolean {
  const last = before.split(/\b(?:AND|OR|WHERE)\b/).at(-1) ?? '';
  return /\bBETWEEN\b/.test(last);
}
