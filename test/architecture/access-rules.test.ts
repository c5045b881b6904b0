import type { DescMessage } from '@bufbuild/protobuf';
import { describe, expect, test } from '@jest/globals';
import { getOption, hasOption } from '@bufbuild/protobuf';
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
});
