import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { getOption, hasOption } from '@bufbuild/protobuf';
import type { DescMessage } from '@bufbuild/protobuf';
import type { ProblemKind } from '@reelgate/platform/problem';
import type { RefusalTable } from '@reelgate/platform/refusal-table';
import { EVERY_KIND } from '@reelgate/platform/testing/refusals';
import { field as fieldRules, oneof as oneofRules } from '@reelgate/proto/rules/v1/rules';
import ts from 'typescript';
import { REFUSALS as BILLING } from '../../services/billing/src/refusals.ts';
import { REFUSALS as GATEWAY } from '../../services/gateway/src/refusals.ts';
import { REFUSALS as MEDIA } from '../../services/media/src/refusals.ts';
import { REFUSALS as TASKS } from '../../services/tasks/src/refusals.ts';
import { everyRpc } from '../harness/contracts.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const REASON = /^[a-z]+(_[a-z]+)+$/;

/** A file that picks a reason from a table or passes a constant on: each such word in it is a reason. */
export const PICKS = [
  'services/gateway/src/dialects/wire/body-validator.ts',
  'services/gateway/src/relay/attempts/forward-call.ts',
  'services/gateway/src/relay/relay.ts',
  'services/platform/src/service-unavailable.ts',
];
/** A file that repeats the reason of another refusal, or of a rule of the contract. */
export const REPEATS = [
  'services/gateway/src/clients/http-media.ts',
  'services/gateway/src/console-server/token-forms.ts',
  'services/gateway/src/operations/submit-order.ts',
  'services/platform/src/refusal-table.ts',
  'services/platform/src/rpc/problems.ts',
  'services/platform/src/rpc/rules.ts',
  'services/tasks/src/clients/media-bytes.ts',
  'services/tasks/src/operations/task-refusals.ts',
  'services/tasks/src/operations/content/upload-media.ts',
  'services/tasks/src/rpc/mapping-order.ts',
];
const ELLIPSIS = '…';
/** The reasons in the queue of attention: they are not refusals. */
const ATTENTION = new Set(['unknown_outcome']);
/** The HTTP port of media names reasons as codes, beside their status. */
export const CODES = /^services\/media\/src\/http\//;
/** Faults of an order, and refusals made of them. */
const FAULTS = /\/domain\/|task-refusals|admit-create|\/dialects\//;

/** The refusals of each service in its code. The platform has none of its own. */
export const TABLES: Readonly<Record<string, RefusalTable>> = {
  gateway: GATEWAY,
  tasks: TASKS,
  billing: BILLING,
  media: MEDIA,
};

const serviceOf = (file: string): string => file.split('/')[1] ?? '';
export const isTable = (file: string): boolean => file.endsWith('/src/refusals.ts');

export interface Use {
  readonly reason: string;
  readonly file: string;
  readonly kind?: ProblemKind | undefined;
  readonly status?: number | undefined;
  /** As far as it does not depend on the request; the rest of it is an ellipsis. */
  readonly sentence?: string | undefined;
}

const git = ['-c', 'safe.directory=*', 'ls-files', '--cached', '--others', '--exclude-standard', 'services/*/src/*'];
const files = execFileSync('git', git, { cwd: ROOT, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));

export const sources = files.map((file) => {
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  return { file, source: ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true) };
});

export function* within(node: ts.Node): Generator<ts.Node> {
  yield node;
  const inner: ts.Node[] = [];
  ts.forEachChild(node, (child) => void inner.push(child));
  for (const child of inner) yield* within(child);
}

export const reasonsIn = (node: ts.Node): readonly string[] =>
  [...within(node)].flatMap((one) => (ts.isStringLiteral(one) && REASON.test(one.text) ? [one.text] : []));

export function propertyOf(object: ts.Node, name: string): ts.Expression | undefined {
  if (!ts.isObjectLiteralExpression(object)) return undefined;
  const found = object.properties.find((one) => one.name?.getText() === name);
  return found !== undefined && ts.isPropertyAssignment(found) ? found.initializer : undefined;
}

function kindOf(object: ts.Node, file: string): ProblemKind | undefined {
  const kind = propertyOf(object, 'kind');
  if (kind !== undefined && ts.isStringLiteral(kind)) return EVERY_KIND.find((one) => one === kind.text);
  return FAULTS.test(file) ? 'invalid' : undefined;
}

/** A member of a record that names its column, such as `reason: inText('disabled_reason')`, gives no reason. */
function isColumn(node: ts.Expression): boolean {
  return ts.isCallExpression(node) && node.expression.getText() === 'inText';
}

/** A call of the `refuse` of a service. Some files have a function of their own with this name. */
function isRefusal(node: ts.Node): node is ts.CallExpression {
  if (!ts.isCallExpression(node) || node.expression.getText() !== 'refuse') return false;
  return /^import \{ refuse \} from '[./]+\/refusals\.ts'/m.test(node.getSourceFile().text);
}

/** The sentences that an expression can have. */
function sentencesOf(node: ts.Expression): readonly string[] {
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isConditionalExpression(node)) return [...sentencesOf(node.whenTrue), ...sentencesOf(node.whenFalse)];
  if (ts.isParenthesizedExpression(node)) return sentencesOf(node.expression);
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken)
    return sentencesOf(node.left).flatMap((left) => sentencesOf(node.right).map((right) => left + right));
  if (!ts.isTemplateExpression(node)) return [ELLIPSIS];
  return [node.head.text + node.templateSpans.map(({ literal }) => ELLIPSIS + literal.text).join('')];
}

function sentenceIn(object: ts.Node | undefined): string | undefined {
  const message = object && propertyOf(object, 'message');
  return message && sentencesOf(message).join(' / ');
}

function usesOf(node: ts.Node, file: string): readonly Use[] {
  if (ts.isCallExpression(node) && node.expression.getText() === 'invalid' && node.arguments[2] !== undefined)
    return reasonsIn(node.arguments[2]).map((reason) => ({
      reason,
      file,
      kind: 'invalid' as const,
      sentence: node.arguments[1] && sentencesOf(node.arguments[1]).join(' / '),
    }));
  if (isRefusal(node) && node.arguments[0] !== undefined)
    return reasonsIn(node.arguments[0]).map((reason) => ({
      reason,
      file,
      kind: TABLES[serviceOf(file)]?.[reason]?.kind,
      sentence: sentenceIn(node.arguments[1]) ?? TABLES[serviceOf(file)]?.[reason]?.message ?? ELLIPSIS,
    }));
  if (!ts.isPropertyAssignment(node)) return [];
  const name = node.name.getText();
  if (name !== 'reason' && !(name === 'code' && CODES.test(file))) return [];
  if (isColumn(node.initializer)) return [];
  const status = propertyOf(node.parent, 'status');
  return reasonsIn(node.initializer).map((reason) => ({
    reason,
    file,
    kind: name === 'reason' ? kindOf(node.parent, file) : undefined,
    status: status === undefined ? undefined : Number(status.getText()),
    sentence: sentenceIn(node.parent),
  }));
}

const inRules = (await everyRpc()).flatMap(([, { input }]) => ruleReasonsOf(input));

function ruleReasonsOf(message: DescMessage, above: readonly DescMessage[] = []): readonly Use[] {
  if (above.includes(message)) return [];
  const rules = [
    ...message.fields.flatMap((one) => (hasOption(one, fieldRules) ? [getOption(one, fieldRules)] : [])),
    ...message.oneofs.flatMap((one) => (hasOption(one, oneofRules) ? [getOption(one, oneofRules)] : [])),
  ];
  return [
    ...rules
      .filter(({ reason }) => reason !== '')
      .map(({ reason }) => ({ reason, file: 'proto/', kind: 'invalid' as const })),
    ...message.fields.flatMap((one) =>
      one.message === undefined ? [] : ruleReasonsOf(one.message, [...above, message]),
    ),
  ];
}

const inTables = Object.entries(TABLES).flatMap(([service, table]) =>
  Object.entries(table).map(([reason, { kind }]) => ({ reason, kind, file: `services/${service}/src/refusals.ts` })),
);

export const uses: readonly Use[] = [
  ...inRules,
  ...inTables,
  ...sources.flatMap(({ file, source }) =>
    PICKS.includes(file)
      ? reasonsIn(source).map((reason) => ({ reason, file }))
      : [...within(source)].flatMap((node) => usesOf(node, file)),
  ),
].filter(({ reason }) => !ATTENTION.has(reason));
