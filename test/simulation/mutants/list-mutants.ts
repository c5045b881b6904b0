import ts from 'typescript';
import { newMutant } from './mutant.ts';
import type { Edit, Mutant, Operator } from './mutant.ts';
import { listSqlEdits } from './list-sql-edits.ts';

/** A larger number is a size or a time: one more or less of it shows nowhere. */
const NUMBER_MAX = 1000;
/** A call on one of these tells operators what happened, and decides nothing. */
const TELEMETRY = new Set(['log', 'logger', 'span', 'metrics', 'meter', 'tracing', 'count']);
const WRITES_SPAN = /^(write|start|end|set)\w*Span$/;
/** The order of their arguments does not matter. */
const SYMMETRIC = new Set(['Math.max', 'Math.min']);
/** Arguments with these names have types of their own: swapped, they do not compile. */
const OWN_TYPES = new Set(['deps', 'query', 'sql', 'clock', 'signal', 'span', 'request', 'undefined']);
const TIME_NAME = /_(MS|SECONDS|BYTES)(_|$)/;

type ListEdits = (node: ts.Node, source: ts.SourceFile) => readonly Edit[];

/** Lists every mutant of a file. Types stay as they are, and so does what only logs, counts or traces. */
export function listMutants(file: string, text: string): readonly Mutant[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const edits: Edit[] = [];
  const visit = (node: ts.Node): void => {
    if (isIrrelevant(node)) return;
    edits.push(...LISTS.flatMap((list) => list(node, source)));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return edits.map((edit) => newMutant(file, text, edit));
}

const LISTS: readonly ListEdits[] = [
  turnCondition,
  swapOperator,
  shiftNumber,
  dropSign,
  dropStatement,
  loseAwait,
  swapArguments,
  dropReturn,
  dropThrow,
  listSqlEdits,
];

function isIrrelevant(node: ts.Node): boolean {
  if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return true;
  return ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || isTelemetry(node);
}

function isTelemetry(node: ts.Node): boolean {
  if (!ts.isCallExpression(node)) return false;
  const names = listNames(node.expression);
  return names.some((name) => TELEMETRY.has(name)) || WRITES_SPAN.test(names.at(-1) ?? '');
}

/** The names of a chain such as `deps.log.info`. */
function listNames(node: ts.Expression): readonly string[] {
  if (ts.isIdentifier(node)) return [node.text];
  return ts.isPropertyAccessExpression(node) ? [...listNames(node.expression), node.name.text] : [];
}

function replace(node: ts.Node, operator: Operator, becomes: string): Edit {
  return { operator, start: node.getStart(), end: node.end, becomes };
}

function turnCondition(node: ts.Node): readonly Edit[] {
  if (ts.isIfStatement(node) && node.elseStatement === undefined && listStatements(node.thenStatement).every(isQuiet))
    return [];
  const condition = ts.isIfStatement(node)
    ? node.expression
    : ts.isConditionalExpression(node)
      ? node.condition
      : undefined;
  return condition === undefined ? [] : [replace(condition, 'turn-condition', `!(${condition.getText()})`)];
}

function listStatements(node: ts.Statement): readonly ts.Statement[] {
  return ts.isBlock(node) ? node.statements : [node];
}

/** Reports whether the statement only logs, counts or traces. */
function isQuiet(node: ts.Statement): boolean {
  if (!ts.isExpressionStatement(node)) return false;
  const { expression } = node;
  return isTelemetry(ts.isAwaitExpression(expression) ? expression.expression : expression);
}

const SWAPS: ReadonlyMap<ts.SyntaxKind, { readonly operator: Operator; readonly becomes: string }> = new Map([
  [ts.SyntaxKind.AmpersandAmpersandToken, { operator: 'swap-logic', becomes: '||' }],
  [ts.SyntaxKind.BarBarToken, { operator: 'swap-logic', becomes: '&&' }],
  [ts.SyntaxKind.LessThanToken, { operator: 'shift-bound', becomes: '<=' }],
  [ts.SyntaxKind.LessThanEqualsToken, { operator: 'shift-bound', becomes: '<' }],
  [ts.SyntaxKind.GreaterThanToken, { operator: 'shift-bound', becomes: '>=' }],
  [ts.SyntaxKind.GreaterThanEqualsToken, { operator: 'shift-bound', becomes: '>' }],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, { operator: 'turn-equality', becomes: '!==' }],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, { operator: 'turn-equality', becomes: '===' }],
  [ts.SyntaxKind.PlusToken, { operator: 'swap-sign', becomes: '-' }],
  [ts.SyntaxKind.MinusToken, { operator: 'swap-sign', becomes: '+' }],
  [ts.SyntaxKind.PlusEqualsToken, { operator: 'swap-sign', becomes: '-=' }],
  [ts.SyntaxKind.MinusEqualsToken, { operator: 'swap-sign', becomes: '+=' }],
]);

function swapOperator(node: ts.Node): readonly Edit[] {
  if (!ts.isBinaryExpression(node)) return [];
  const swap = SWAPS.get(node.operatorToken.kind);
  if (swap === undefined || (swap.operator === 'swap-sign' && [node.left, node.right].some(isText))) return [];
  // the turned condition is the same mutant
  if (swap.operator === 'turn-equality' && isCondition(node)) return [];
  return [replace(node.operatorToken, swap.operator, swap.becomes)];
}

function isCondition(node: ts.Expression): boolean {
  const { parent } = node;
  if (ts.isIfStatement(parent)) return parent.expression === node;
  return ts.isConditionalExpression(parent) && parent.condition === node;
}

function isText(node: ts.Expression): boolean {
  if (ts.isBinaryExpression(node)) return isText(node.left) || isText(node.right);
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
}

function shiftNumber(node: ts.Node): readonly Edit[] {
  if (!ts.isNumericLiteral(node) && !ts.isBigIntLiteral(node)) return [];
  const text = node.getText();
  if (!/^\d+n?$/.test(text) || Number.parseInt(text, 10) > NUMBER_MAX || !decides(node)) return [];
  const more = Number.parseInt(text, 10) + 1;
  return [replace(node, 'shift-number', text.endsWith('n') ? `${more}n` : String(more))];
}

/** Reports whether a number is a bound, an operand or an argument, and no time or size. */
function decides(node: ts.Expression): boolean {
  const { parent } = node;
  if (ts.isVariableDeclaration(parent)) return !TIME_NAME.test(parent.name.getText());
  if (ts.isBinaryExpression(parent)) return ![parent.left, parent.right].some((side) => TIME_NAME.test(side.getText()));
  return ts.isCallExpression(parent) || ts.isElementAccessExpression(parent) || ts.isReturnStatement(parent);
}

function dropSign(node: ts.Node): readonly Edit[] {
  if (!ts.isPrefixUnaryExpression(node) || node.operator !== ts.SyntaxKind.MinusToken) return [];
  return ts.isNumericLiteral(node.operand) ? [] : [replace(node, 'swap-sign', `(${node.operand.getText()})`)];
}

function dropStatement(node: ts.Node): readonly Edit[] {
  if (!ts.isExpressionStatement(node) || isQuiet(node)) return [];
  const { expression } = node;
  const isConstruction = ts.isCallExpression(expression) && expression.expression.kind === ts.SyntaxKind.SuperKeyword;
  return isConstruction ? [] : [replace(node, 'drop-statement', ';')];
}

/** Work that is not awaited goes on beside its caller. Outside of a `try`, a returned promise is the same without it. */
function loseAwait(node: ts.Node): readonly Edit[] {
  if (!ts.isAwaitExpression(node)) return [];
  const start = node.getStart();
  const lose = (becomes: string): Edit => ({ operator: 'lose-await', start, end: start + 'await'.length, becomes });
  if (ts.isExpressionStatement(node.parent)) return isQuiet(node.parent) ? [] : [lose('void')];
  return ts.isReturnStatement(node.parent) && isTried(node) ? [lose('')] : [];
}

function isTried(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isSourceFile(parent) || ts.isFunctionLike(parent)) return false;
  return (ts.isTryStatement(parent) && parent.tryBlock === node) || isTried(parent);
}

function swapArguments(node: ts.Node): readonly Edit[] {
  if (!ts.isCallExpression(node) || SYMMETRIC.has(node.expression.getText())) return [];
  return node.arguments.flatMap((one, at) => {
    const next = node.arguments[at + 1];
    if (next === undefined || one.kind !== next.kind || one.getText() === next.getText()) return [];
    if (!isSwappable(one) || !isSwappable(next)) return [];
    const [start, between] = [one.getStart(), node.getSourceFile().text.slice(one.end, next.getStart())];
    const becomes = `${next.getText()}${between}${one.getText()}`;
    return [{ operator: 'swap-arguments' as const, start, end: next.end, becomes }];
  });
}

function isSwappable(node: ts.Expression): boolean {
  if (ts.isIdentifier(node)) return !OWN_TYPES.has(node.text);
  if (ts.isPropertyAccessExpression(node) || ts.isCallExpression(node)) return true;
  return ts.isNumericLiteral(node) || ts.isStringLiteral(node);
}

/** An early return is one that a condition guards, and that other statements follow. */
function dropReturn(node: ts.Node): readonly Edit[] {
  if (!ts.isReturnStatement(node)) return [];
  const owner = ts.isBlock(node.parent) ? node.parent.parent : node.parent;
  return ts.isIfStatement(owner) && hasNext(owner) ? [replace(node, 'drop-return', ';')] : [];
}

function hasNext(node: ts.IfStatement): boolean {
  if (!ts.isBlock(node.parent)) return true;
  return node.parent.statements.at(-1) !== node || !ts.isFunctionLike(node.parent.parent);
}

function dropThrow(node: ts.Node): readonly Edit[] {
  return ts.isThrowStatement(node) ? [replace(node, 'drop-throw', ';')] : [];
}
