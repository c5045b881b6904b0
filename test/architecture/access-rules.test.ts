import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { DescMessage } from '@bufbuild/protobuf';
import { describe, expect, test } from '@jest/globals';
import { getOption, hasOption } from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import { Role, Scope } from '@reelgate/proto/access/v1/access';
import { compileAccessCheck, readAccessRule } from '@reelgate/platform/rpc/access';
import { compileCallCheck } from '@reelgate/platform/rpc/call-check';
import { field as fieldRules } from '@reelgate/proto/rules/v1/rules';
import { everyRpc } from '../harness/contracts.ts';

/** The names of fields that hold one account or several. */
const ACCOUNT = /(^|_)accounts?(_ids?)?$/;

/** RPCs of operators whose account may be left out: then they are about those of every account. */
const FILTERS: ReadonlySet<string> = new Set([
  ...['ListTokens', 'ListTaskRecords', 'ListJobRecords', 'ListCharges'],
  ...['ListQueue', 'CancelQueued', 'HoldQueue', 'ReleaseQueue'],
]);

/** The scopes that only services have. */
const INTERNAL: ReadonlySet<Scope> = new Set([
  ...[Scope.TASKS_INTERNAL, Scope.BILLING_INTERNAL, Scope.MEDIA_INTERNAL, Scope.SESSIONS_INTERNAL],
]);
/** The RPCs that pages of operators call, such as `tasks.OperatorService/ListNotes`. */
const CALLED = new Set(
  listSources(path.join(import.meta.dirname, '../../services/gateway/console')).flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/'((?:tasks|billing)\.\w+\/\w+)'/g)].map(([, name = '']) => name),
  ),
);

function listSources(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file))
    .map((file) => path.join(folder, file));
}

const rpcs = await everyRpc();

/** The paths of the fields of a request that name an account, however deep. */
function accountFields(message: DescMessage, above: readonly DescMessage[] = []): readonly string[] {
  if (above.includes(message)) return [];
  return message.fields.flatMap((field) => [
    ...(ACCOUNT.test(field.name) ? [field.name] : []),
    ...(field.message === undefined
      ? []
      : accountFields(field.message, [...above, message]).map((inner) => `${field.name}.${inner}`)),
  ]);
}

test('the contracts have RPCs', () => {
  const services = new Set(rpcs.map(([, { parent }]) => parent.typeName));

  expect([...services]).toEqual(
    expect.arrayContaining([
      'reelgate.tasks.v1.TaskService',
      'reelgate.billing.v1.CallService',
      'reelgate.media.v1.OperatorService',
    ]),
  );
  expect(rpcs.length).toBeGreaterThan(40);
});

describe.each(rpcs)('%s', (_name, method) => {
  test('has a valid access rule', () => {
    expect(() => compileAccessCheck(method)).not.toThrow();
  });

  test('has sound rules beside the fields of its request', () => {
    expect(() => compileCallCheck(method)).not.toThrow();
  });

  test('requires the field that names the account or the thing, unless it is a filter', () => {
    const { whose } = readAccessRule(method);
    const named = method.input.fields.find(({ name }) => name === whose.value);
    const isRequired = named !== undefined && hasOption(named, fieldRules) && getOption(named, fieldRules).required;

    expect(named === undefined || isRequired || FILTERS.has(method.name)).toBe(true);
  });

  test('names no account that its rule does not check', () => {
    const { whose } = readAccessRule(method);

    expect(
      accountFields(method.input).filter((field) => whose.case !== 'accountField' || whose.value !== field),
    ).toEqual([]);
  });

  test('has a role at the console exactly if a page calls it, and never a scope of services', () => {
    const { scope, role } = readAccessRule(method);
    const name = `${method.parent.typeName.replace(/^reelgate\.(\w+)\.v1\./, '$1.')}/${method.name}`;

    expect(role !== Role.UNSPECIFIED).toBe(CALLED.has(name));
    expect(role === Role.UNSPECIFIED || !INTERNAL.has(scope)).toBe(true);
  });

  test('names only fields of its request as not from the console', () => {
    const names = new Set(method.input.fields.map((field) => field.name));

    expect(readAccessRule(method).notFromConsole.filter((name) => !names.has(name))).toEqual([]);
  });

  test('changes nothing if a viewer may call it, but how far he has read', () => {
    const isRead = method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;

    expect(readAccessRule(method).role !== Role.VIEWER || isRead || method.name === 'MarkHandOver').toBe(true);
  });
});
