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
/** RPCs of operators that the console does not pass: the command line has them, or a route that also asks the gateway. */
const NOT_PASSED: ReadonlySet<string> = new Set([
  'reelgate.billing.v1.AccountService/RebuildBalances',
  ...['Diagnose', 'Profile'].map((name) => `reelgate.diagnosis.v1.DiagnosisService/${name}`),
  'reelgate.media.v1.OperatorService/VerifyBlobs',
  ...['ClassifyHolds', 'CountAttention', 'FindWork', 'PauseChannel', 'ResumeChannel', 'TestChannel'].map(
    (name) => `reelgate.tasks.v1.OperatorService/${name}`,
  ),
]);

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

  test('has a role at the console exactly if the console passes it', () => {
    const { scope, role } = readAccessRule(method);
    const isForOperators = scope === Scope.OPERATOR;

    expect(role === Role.UNSPECIFIED || !INTERNAL.has(scope)).toBe(true);
    expect(isForOperators && role === Role.UNSPECIFIED).toBe(
      NOT_PASSED.has(`${method.parent.typeName}/${method.name}`),
    );
  });

  test('changes nothing if a viewer may call it, but how far he has read', () => {
    const isRead = method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;

    expect(readAccessRule(method).role !== Role.VIEWER || isRead || method.name === 'MarkHandOver').toBe(true);
  });
});
