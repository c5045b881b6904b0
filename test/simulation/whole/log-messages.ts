import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const ROOT = path.join(import.meta.dirname, '../../..');
const SERVICES = 'services';
const NO_PRODUCT = /\.test\.ts$|(?<!\.ts)$/;
const LEVELS: ReadonlySet<string> = new Set(['debug', 'info', 'warn', 'error']);
/** What a log is called where its lines are written. A call on anything else is no line of the log. */
const LOG_NAME = /(^|\.)(log|lines)$/;

/** A line of the log in the source of the product. Lines of the access log are not among them. */
export interface LogMessage {
  readonly level: string;
  readonly message: string;
  readonly file: string;
  readonly line: number;
}

/** A call whose message is not a constant of its file. */
export interface UnreadCall {
  readonly file: string;
  readonly line: number;
}

export interface LogCalls {
  readonly messages: readonly LogMessage[];
  readonly unread: readonly UnreadCall[];
}

/** Finds every line that the services can write into their logs. */
export function listLogMessages(): LogCalls {
  const read = readdirSync(path.join(ROOT, SERVICES))
    .toSorted()
    .flatMap(listSources)
    .map((file) => readLogCalls(file, readFileSync(path.join(ROOT, file), 'utf8')));
  return { messages: read.flatMap(({ messages }) => messages), unread: read.flatMap(({ unread }) => unread) };
}

/** Lists the files of a service, from the root of the repository. */
function listSources(service: string): readonly string[] {
  const folder = path.join(SERVICES, service, 'src');
  if (!existsSync(path.join(ROOT, folder))) return [];
  return readdirSync(path.join(ROOT, folder), { encoding: 'utf8', recursive: true })
    .filter((file) => !NO_PRODUCT.test(file))
    .toSorted()
    .map((file) => path.join(folder, file));
}

/** Finds the lines that one file can write. */
export function readLogCalls(file: string, text: string): LogCalls {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const messages: LogMessage[] = [];
  const unread: UnreadCall[] = [];
  const visit = (node: ts.Node): void => {
    const call = readLogCall(node);
    if (call !== undefined) {
      const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
      const texts = readConstants(call.message, source);
      if (texts === undefined) unread.push({ file, line });
      else for (const message of texts) messages.push({ level: call.level, message, file, line });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { messages, unread };
}

function readLogCall(node: ts.Node): { readonly level: string; readonly message: ts.Expression } | undefined {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined;
  const { name, expression: log } = node.expression;
  const [, message] = node.arguments;
  if (!LEVELS.has(name.text) || message === undefined || !LOG_NAME.test(log.getText())) return undefined;
  return { level: name.text, message };
}

/** The values that an expression can have; undefined if they do not follow from its file. */
function readConstants(node: ts.Expression, source: ts.SourceFile): readonly string[] | undefined {
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isConditionalExpression(node)) {
    const [one, other] = [readConstants(node.whenTrue, source), readConstants(node.whenFalse, source)];
    return one && other && [...one, ...other];
  }
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const [first, last] = [readConstants(node.left, source), readConstants(node.right, source)];
    return first && last?.flatMap((end) => first.map((begin) => begin + end));
  }
  if (!ts.isIdentifier(node)) return undefined;
  const declared = source.statements
    .filter((statement) => ts.isVariableStatement(statement))
    .flatMap(({ declarationList }) => declarationList.declarations)
    .find(({ name }) => name.getText() === node.text);
  return declared?.initializer && readConstants(declared.initializer, source);
}
