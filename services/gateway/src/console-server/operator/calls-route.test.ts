import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterEach, describe, expect, test } from '@jest/globals';
import { serviceUnavailable } from '@reelgate/platform/service-unavailable';
import type { OperatorMethods } from '../../../testing/fake-operator.ts';
import { call } from '../../../testing/http-call.ts';
import { startOperatorUnderTest } from '../../../testing/operator-under-test.ts';
import type { OperatorUnderTest } from '../../../testing/operator-under-test.ts';

let console: OperatorUnderTest;
afterEach(() => console.stop());

const start = async (operator: OperatorMethods = {}): Promise<void> => {
  console = await startOperatorUnderTest({ operator });
};
const pass = (role: 'viewer' | 'operator' | 'treasurer', ...calls: readonly (readonly [string, object])[]) =>
  console.as(role, 'POST', '/calls', { calls: calls.map(([rpc, request]) => ({ rpc, request })) });

test('calls are answered in their order, as JSON of their contracts, with each field that has no presence', async () => {
  await start({
    tasks: { getHandOver: async () => ({ since: timestampFromMs(1000), now: timestampFromMs(2000) }) },
    accounts: { getAccount: async () => ({ account: { id: 'demo', balanceNanos: 5n } }) },
  });
  const { status, json } = await pass(
    'viewer',
    ['tasks.OperatorService/GetHandOver', {}],
    ['billing.AccountService/GetAccount', { id: 'demo' }],
  );

  expect(status).toBe(200);
  expect(json.answers).toMatchObject([
    { answer: { since: '1970-01-01T00:00:01Z', now: '1970-01-01T00:00:02Z', events: [], hasMore: false } },
    { answer: { account: { id: 'demo', balanceNanos: '5' } } },
  ]);
  expect(typeof json.now).toBe('number');
});

test('a call that fails has its refusal in its place, and the others are answered', async () => {
  await start({
    tasks: {
      listNotes: async () => {
        throw serviceUnavailable(undefined);
      },
    },
  });
  const { json } = await pass(
    'viewer',
    ['tasks.OperatorService/ListNotes', { subject: 'east' }],
    ['billing.AccountService/ListActs', {}],
  );

  expect(json.answers).toMatchObject([
    { refusal: { status: 503, error: { code: 'service_unavailable' } } },
    { answer: { acts: [] } },
  ]);
  expect(JSON.stringify(json)).not.toMatch(/grpc|[0-9]:[0-9]/i);
});

describe('the actor of a call', () => {
  test.each([
    ['is the operator who is signed in', {}],
    ['cannot be another person', { actor: 'somebody' }],
  ])('%s', async (_case, more) => {
    const actors: string[] = [];
    await start({
      tasks: {
        addNote: async ({ actor }) => {
          actors.push(actor);
          return {};
        },
      },
    });
    await pass('operator', ['tasks.OperatorService/AddNote', { subject: 'east', text: 'look at it', ...more }]);

    expect(actors).toEqual(['operator']);
  });
});

describe('an act is refused', () => {
  const credit = { id: 'demo', amountNanos: '5', reason: 'invoice 7', requestId: 'credit-1234' };

  test.each([
    ['billing.AccountService/CreateToken', { accountId: 'demo', makerTokenId: 'token_1' }, 'maker_token_id'],
    ['billing.AccountService/CreateToken', { accountId: 'demo', configuredLimits: {} }, 'configured_limits'],
    ['billing.AccountService/RevokeToken', { id: 'token_1', revokerTokenId: 'token_1' }, 'revoker_token_id'],
    ['billing.AccountService/VerifyLedger', { diagnosis: true }, 'diagnosis'],
    ['billing.AccountService/CreditAccount', { ...credit, reason: ' ' }, 'reason'],
    ['billing.AccountService/CreditAccount', { ...credit, requestId: '' }, 'request_id'],
    ['billing.AccountService/UpdateTokenLimits', { id: 'token_1' }, 'reason'],
  ])('%s with %j, which the record would not show as an act of the visitor', async (rpc, request, param) => {
    const made: string[] = [];
    const note = (name: string) => async () => {
      made.push(name);
      return {};
    };
    await start({
      accounts: {
        createToken: note('token'),
        revokeToken: note('revoked'),
        verifyLedger: note('verified'),
        creditAccount: note('credited'),
        updateTokenLimits: note('limits'),
      },
    });
    const { json } = await pass('treasurer', [rpc, request]);

    expect(json.answers).toMatchObject([{ refusal: { status: 400, error: { param } } }]);
    expect(made).toEqual([]);
  });

  test('to a role that may not, and the log names the RPC and the person', async () => {
    await start();
    await pass('viewer', ['billing.AccountService/CreditAccount', credit]);

    expect(JSON.stringify(console.gateway.warnings)).toMatch(
      /billing\.AccountService\/CreditAccount.*viewer|viewer.*CreditAccount/,
    );
  });
});

describe('a call is refused', () => {
  test.each([
    ['tasks.OperatorService/AddNote', 'viewer', 'needs the role operator; viewer has the role viewer'],
    ['billing.AccountService/CreditAccount', 'operator', 'needs the role treasurer; operator has the role operator'],
  ] as const)('%s to a %s', async (rpc, role, message) => {
    await start();
    const { json } = await pass(role, [rpc, {}]);

    expect(json.answers).toMatchObject([{ refusal: { status: 403, error: { code: 'role_missing' } } }]);
    expect(json.answers[0].refusal.error.message).toContain(message);
  });

  test.each([
    'billing.AccountService/RebuildBalances',
    'tasks.OperatorService/ListChannelPauses',
    'tasks.OperatorService/NoSuchRpc',
    'constructor',
  ])('%s to every role, because the contract gives it none', async (rpc) => {
    await start();
    const { json } = await pass('treasurer', [rpc, {}]);

    expect(json.answers).toMatchObject([{ refusal: { status: 404, error: { code: 'unknown_rpc', param: 'rpc' } } }]);
  });

  test.each([
    [{ subjekt: 'east' }, 'subjekt'],
    [{ subject: 1 }, 'subject'],
    [{}, 'subject'],
  ])('with the request %j, which breaks its contract, by the name of the field', async (request, param) => {
    await start();
    const { json } = await pass('viewer', ['tasks.OperatorService/ListNotes', request]);

    expect(json.answers).toMatchObject([{ refusal: { status: 400, error: { param } } }]);
  });

  test.each([
    ['a reason of spaces', { accountId: 'acme', weight: 2, reason: ' ' }, 'reason'],
    ['no reason', { accountId: 'acme', weight: 2 }, 'reason'],
    ['a weight of 0', { accountId: 'acme', weight: 0, reason: 'why' }, 'weight'],
    ['a weight that is not whole', { accountId: 'acme', weight: 1.5, reason: 'why' }, 'weight'],
  ])('that changes the queue with %s, by the name of the field', async (_what, request, param) => {
    await start();
    const { json } = await pass('operator', ['tasks.QueueService/SetQueueWeight', request]);

    expect(json.answers).toMatchObject([{ refusal: { status: 400, error: { param } } }]);
  });

  test('without a session, and from the page of another site', async () => {
    await start();
    const body = { calls: [{ rpc: 'billing.AccountService/GetMoney', request: {} }] };
    const path = '/console/api/calls';
    const foreign = { ...(await console.headersOf('viewer')), origin: 'https://elsewhere.example' };
    const statuses = await Promise.all([
      call(console.url, 'POST', path, {
        token: null,
        headers: { origin: console.url, 'x-reelgate-console': '1' },
        body,
      }),
      call(console.url, 'POST', path, { token: null, headers: foreign, body }),
    ]);

    expect(statuses.map(({ status }) => status)).toEqual([401, 403]);
  });

  test('if one request has more than twelve of them', async () => {
    await start();
    const calls = Array.from({ length: 13 }, () => ['billing.AccountService/GetMoney', {}] as const);

    expect((await pass('viewer', ...calls)).status).toBe(400);
  });
});

test.each(['CreditAccount', 'CreateToken', 'RevokeToken', 'UpdateTokenLimits', 'VerifyLedger'])(
  '%s needs a treasurer',
  async (name) => {
    await start();
    for (const role of ['viewer', 'operator'] as const) {
      const { json } = await pass(role, [`billing.AccountService/${name}`, {}]);

      expect(json.answers).toMatchObject([{ refusal: { status: 403, error: { code: 'role_missing' } } }]);
    }
  },
);
