import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { getOption, hasOption } from '@bufbuild/protobuf';
import type { DescMessage } from '@bufbuild/protobuf';
import { status } from '@grpc/grpc-js';
import { describe, expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import type { ProblemKind } from '@reelgate/platform/problem';
import { toConnectError } from '@reelgate/platform/rpc/problems';
import { EVERY_KIND } from '@reelgate/platform/testing/refusals';
import { field as fieldRules, oneof as oneofRules } from '@reelgate/proto/rules/v1/rules';
import ts from 'typescript';
import { findErrorRow } from '../../services/gateway/src/problems/error-table.ts';
import { everyRpc } from '../harness/contracts.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const TABLE = 'proto/reasons.md';
const ROW = /^\| `([a-z_]+)` \| (\S+) \| (\S+) \| (.+) \| (.+) \|$/;
const NONE = '–';
const REASON = /^[a-z]+(_[a-z]+)+$/;

/** A file that picks a reason from a table or passes a constant on: each such word in it is a reason. */
const PICKS = [
  'services/gateway/src/dialects/wire/body-validator.ts',
  'services/gateway/src/relay/attempts/forward-call.ts',
  'services/gateway/src/relay/relay.ts',
  'services/platform/src/service-unavailable.ts',
];
/** A file that repeats the reason of another refusal, or of a rule of the contract. */
const REPEATS = [
  'services/gateway/src/clients/http-media.ts',
  'services/gateway/src/console-server/token-forms.ts',
  'services/gateway/src/operations/submit-order.ts',
  'services/platform/src/rpc/problems.ts',
  'services/platform/src/rpc/rules.ts',
  'services/tasks/src/clients/http-media-bytes.ts',
  'services/tasks/src/operations/task-refusals.ts',
  'services/tasks/src/operations/content/upload-media.ts',
  'services/tasks/src/rpc/mapping-order.ts',
];
/** The reasons in the queue of attention: they are not refusals. */
const ATTENTION = new Set(['unknown_outcome']);
/** The HTTP port of media names reasons as codes, beside their status. */
const CODES = /^services\/media\/src\/http\//;
/** Faults of an order, and refusals made of them. */
const FAULTS = /\/domain\/|task-refusals|admit-create|\/dialects\//;

interface Use {
  readonly reason: string;
  readonly file: string;
  readonly kind?: ProblemKind | undefined;
  readonly status?: number | undefined;
}

const git = ['-c', 'safe.directory=*', 'ls-files', '--cached', '--others', '--exclude-standard', 'services/*/src/*'];
const files = execFileSync('git', git, { cwd: ROOT, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));

const sources = files.map((file) => {
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  return { file, source: ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true) };
});

function* within(node: ts.Node): Generator<ts.Node> {
  yield node;
  const inner: ts.Node[] = [];
  ts.forEachChild(node, (child) => void inner.push(child));
  for (const child of inner) yield* within(child);
}

const reasonsIn = (node: ts.Node): readonly string[] =>
  [...within(node)].flatMap((one) => (ts.isStringLiteral(one) && REASON.test(one.text) ? [one.text] : []));

function propertyOf(object: ts.Node, name: string): ts.Expression | undefined {
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

function usesOf(node: ts.Node, file: string): readonly Use[] {
  if (ts.isCallExpression(node) && node.expression.getText() === 'invalid' && node.arguments[2] !== undefined)
    return reasonsIn(node.arguments[2]).map((reason) => ({ reason, file, kind: 'invalid' as const }));
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

const uses: readonly Use[] = [
  ...inRules,
  ...sources.flatMap(({ file, source }) =>
    PICKS.includes(file)
      ? reasonsIn(source).map((reason) => ({ reason, file }))
      : [...within(source)].flatMap((node) => usesOf(node, file)),
  ),
].filter(({ reason }) => !ATTENTION.has(reason));

const rows = readFileSync(path.join(ROOT, TABLE), 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, reason = '', grpc = '', http = ''] = ROW.exec(line) ?? [];
    return reason === '' ? [] : [{ reason, grpc, http }];
  });

/** Such as `INVALID_ARGUMENT`. The codes of Connect have the numbers of those of gRPC. */
const codeNameOf = (kind: ProblemKind, reason: string): string =>
  String(status[toConnectError(new Problem({ kind, reason, message: 'm' })).code]);

const statusesOf = (reason: string): readonly string[] =>
  uses
    .filter((use) => use.reason === reason)
    .flatMap(({ kind, status = kind && findErrorRow({ kind, reason }).status }) =>
      status === undefined ? [] : [String(status)],
    );

test('every reason that the code gives has one row', () => {
  expect(rows.map(({ reason }) => reason).toSorted()).toEqual(
    [...new Set(uses.map(({ reason }) => reason))].toSorted(),
  );
});

test('no reason is given in a way that this test does not read', () => {
  const unread = sources
    .filter(({ file }) => !PICKS.includes(file) && !REPEATS.includes(file))
    .flatMap(({ file, source }) =>
      [...within(source)].flatMap((node) => {
        if (!ts.isNewExpression(node) || node.expression.getText() !== 'Problem') return [];
        const [init] = node.arguments ?? [];
        const reason = init && propertyOf(init, 'reason');
        return reason !== undefined && reasonsIn(reason).length > 0 ? [] : [`${file}: ${node.getText().slice(0, 80)}`];
      }),
    );

  expect(unread).toEqual([]);
});

describe.each(rows)('$reason', ({ reason, grpc, http }) => {
  const own = uses.filter((use) => use.reason === reason);

  test('has the gRPC code of its kind, or none if only the public API gives it', () => {
    const inServices = own.filter(({ file }) => !file.startsWith('services/gateway/') && !CODES.test(file));
    const codes = new Set(inServices.flatMap(({ kind }) => (kind === undefined ? [] : [codeNameOf(kind, reason)])));

    if (inServices.length === 0) expect(grpc).toBe(NONE);
    else if (codes.size > 0) expect([...codes]).toEqual([grpc]);
    else expect(grpc).not.toBe(NONE);
  });

  test('has the HTTP status of the public API', () => {
    const known = new Set(statusesOf(reason));
    const possible = EVERY_KIND.map((kind) => String(findErrorRow({ kind, reason }).status));

    if (http === NONE) expect(own.every(({ file }) => !file.startsWith('services/gateway/'))).toBe(true);
    else if (known.size > 0) expect([...known]).toEqual([http]);
    else expect(possible).toContain(http);
  });
});
