import { create } from '@bufbuild/protobuf';
import type { DescMethod, MessageInitShape } from '@bufbuild/protobuf';
import { describe, expect, test } from '@jest/globals';
import { Scope } from '@reelgate/proto/access/v1/access';
import type { AccessSchema } from '@reelgate/proto/access/v1/access';
import { CallService } from '@reelgate/proto/billing/v1/call_service';
import { aCaller } from '../../testing/a-caller.ts';
import { withRules } from '../../testing/with-rules.ts';
import { compileAccessCheck, assertOwner } from './access.ts';

type Rule = MessageInitShape<typeof AccessSchema>;

/**
 * PlaceCalls under another rule. Its request has a list of messages with a message in each, a flag and no text.
 */
const methodUnder = (rule: Rule | undefined): DescMethod => withRules(CallService, () => rule).method.placeCalls;
const by = (accountField: string): Rule => ({
  scope: Scope.TASKS_READ,
  whose: { case: 'accountField', value: accountField },
});
const messageOf = (method: DescMethod, init: object) => create(method.input, init as never);
const demo = aCaller({ name: 'reporting', accounts: ['demo', 'lab'], scopes: new Set([Scope.TASKS_READ]) });

describe('an invalid access rule stops the start', () => {
  test.each<[string, Rule | undefined, string]>([
    ['a missing rule', undefined, 'PlaceCalls has no access rule'],
    ['a rule without a scope', { whose: { case: 'noAccount', value: 'prices are for all' } }, 'without a scope'],
    ['a rule without accounts', { scope: Scope.OPERATOR }, 'without an account_field, looked_up_by'],
    [
      'a rule without a reason',
      { scope: Scope.OPERATOR, whose: { case: 'everyAccount', value: '' } },
      'without an account_field, looked_up_by',
    ],
    ['a rule with an unknown field', by('account_id'), 'account_id, which is not a string'],
    ['a rule with an unknown nested field', by('calls.account'), 'calls.account, which is not a string'],
    ['a rule with the JSON name of a field', by('calls.accountId'), 'which is not a string'],
    ['a rule with a boolean field', by('refusals_only'), 'which is not a string'],
    ['a rule with a message field', by('calls'), 'which is not a string'],
    ['a rule with a path through a text field', by('calls.account_id.more'), 'which is not a string'],
    [
      'a rule with an unknown lookup field',
      { scope: Scope.OPERATOR, whose: { case: 'lookedUpBy', value: 'task_id' } },
      'which is not a string',
    ],
  ])('%s', (_what, rule, fault) => {
    expect(() => compileAccessCheck(methodUnder(rule))).toThrow(fault);
  });
});

describe('the account that a request names', () => {
  const method = methodUnder(by('calls.account_id'));
  const assertMayCall = compileAccessCheck(method);
  const calls = (...accounts: readonly string[]) =>
    messageOf(method, { calls: accounts.map((accountId) => ({ accountId })) });

  test.each([[['demo']], [['lab']], [['demo', 'lab', 'demo']]])(
    'may be %j for a caller with the accounts demo and lab',
    (accounts) => {
      expect(() => {
        assertMayCall(demo, calls(...accounts));
      }).not.toThrow();
    },
  );

  test.each([[['other']], [['demo ']], [['DEMO']], [['demo', 'other']]])('may not be %j', (accounts) => {
    expect(() => {
      assertMayCall(demo, calls(...accounts));
    }).toThrow(
      expect.objectContaining({
        kind: 'forbidden',
        reason: 'account_not_allowed',
        field: 'calls.account_id',
        message: 'must be one of the accounts of the caller reporting',
      }),
    );
  });

  test.each([[[]], [['']], [['demo', '']]])('must be named, and %j is refused', (accounts) => {
    expect(() => {
      assertMayCall(demo, calls(...accounts));
    }).toThrow(
      expect.objectContaining({
        kind: 'invalid',
        reason: 'invalid_request',
        field: 'calls.account_id',
        message: 'is required; the caller reporting has some accounts only',
      }),
    );
  });

  test('may be any for a caller of every account, and none for a caller without accounts', () => {
    expect(() => {
      assertMayCall(aCaller({ scopes: demo.scopes }), calls('other', ''));
    }).not.toThrow();
    expect(() => {
      assertMayCall({ ...demo, accounts: [] }, calls('demo'));
    }).toThrow(expect.objectContaining({ reason: 'account_not_allowed' }));
  });

  test('is read from a nested message, and is missing when that message is', () => {
    const inner = methodUnder(by('calls.facts.price_key'));

    expect(() => {
      compileAccessCheck(inner)(demo, messageOf(inner, { calls: [{ facts: { priceKey: 'demo' } }] }));
    }).not.toThrow();
    expect(() => {
      compileAccessCheck(inner)(demo, messageOf(inner, { calls: [{}] }));
    }).toThrow(expect.objectContaining({ reason: 'invalid_request', field: 'calls.facts.price_key' }));
  });
});

describe('the scope of an RPC', () => {
  const assertMayCall = compileAccessCheck(methodUnder(by('calls.account_id')));

  test.each<[string, ReadonlySet<Scope>]>([
    ['no scope', new Set()],
    ['tasks.write, operator', new Set([Scope.TASKS_WRITE, Scope.OPERATOR])],
  ])('is checked before the accounts, for a caller with %s', (held, scopes) => {
    expect(() => {
      assertMayCall({ ...demo, scopes }, {});
    }).toThrow(
      expect.objectContaining({
        kind: 'forbidden',
        reason: 'scope_missing',
        message:
          `reelgate.billing.v1.CallService/PlaceCalls needs the scope tasks.read; ` +
          `the caller reporting has ${held}`,
      }),
    );
  });
});

test('an RPC over every account is for callers of every account only', () => {
  const assertMayCall = compileAccessCheck(
    methodUnder({ scope: Scope.TASKS_READ, whose: { case: 'everyAccount', value: 'the books are of every account' } }),
  );

  expect(() => {
    assertMayCall(demo, {});
  }).toThrow(expect.objectContaining({ kind: 'forbidden', reason: 'account_not_allowed', field: undefined }));
  expect(() => {
    assertMayCall(aCaller(), {});
  }).not.toThrow();
});

test('an RPC over no account is for every caller with the scope', () => {
  const assertMayCall = compileAccessCheck(
    methodUnder({
      scope: Scope.TASKS_READ,
      whose: { case: 'noAccount', value: 'prices are the same for every account' },
    }),
  );

  expect(() => {
    assertMayCall({ ...demo, accounts: [] }, {});
  }).not.toThrow();
});

describe('a resource that is looked up', () => {
  test.each([['other'], [undefined]])('with the owner %p is refused in the same words', (owner) => {
    expect(() => {
      assertOwner(demo, owner, 'id');
    }).toThrow(
      expect.objectContaining({
        kind: 'forbidden',
        reason: 'account_not_allowed',
        field: 'id',
        message: 'must name a resource of an account of the caller reporting',
      }),
    );
  });

  test('is open to its owner and to callers of every account', () => {
    expect(() => {
      assertOwner(demo, 'lab', 'id');
    }).not.toThrow();
    expect(() => {
      assertOwner(aCaller(), undefined, 'id');
    }).not.toThrow();
  });
});
