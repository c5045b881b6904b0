import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import type { Implementation } from '@reelgate/platform/rpc/service';
import { AccountOrder, AccountSchema, TokenSchema } from '@reelgate/proto/billing/v1/account_service';
import type { AccountService } from '@reelgate/proto/billing/v1/account_service';
import { TokenClass, TokenWait } from '@reelgate/proto/billing/v1/token_queue';
import { UsageGroup } from '@reelgate/proto/billing/v1/usage_service';
import { startOperatorUnderTest } from '../../../testing/operator-under-test.ts';
import type { OperatorUnderTest } from '../../../testing/operator-under-test.ts';

const CREDIT = { amount: '12.50', reason: 'invoice 7', requestId: 'click-0001' };
const FORM = { name: 'batch', models: ['*'], webhooks: 'write', tokens: 'none' };
const account = (id: string) =>
  create(AccountSchema, {
    id,
    currency: 'USD',
    balanceNanos: 10_000_000_000n,
    heldNanos: 400_000_000n,
    createdAt: timestampFromMs(5),
  });
const ROW = {
  id: 'demo',
  balance: { amount: '10', currency: 'USD' },
  held: { amount: '0.4', currency: 'USD' },
  free: { amount: '9.6', currency: 'USD' },
  createdAt: 5,
};
const own = create(TokenSchema, { id: 'token_1', accountId: 'demo', name: 'main', models: ['*'] });

let asked: [method: string, request: object][];
let refusal: Problem | undefined;
let console: OperatorUnderTest;

/** Records a call, and answers it. */
const answering =
  <A extends object>(method: string, answer: A) =>
  async (request: object): Promise<A> => {
    asked.push([method, request]);
    if (refusal !== undefined) throw refusal;
    return answer;
  };

beforeEach(async () => {
  asked = [];
  refusal = undefined;
  const accounts: Partial<Implementation<typeof AccountService>> = {
    listAccounts: answering('listAccounts', { accounts: [account('demo'), account('lab')], hasMore: true }),
    getAccount: async ({ id }) => ({ account: account(id) }),
    listTokens: async () => ({ tokens: [own] }),
    listCredits: async () => ({
      credits: [{ key: 'k', at: timestampFromMs(7), amountNanos: -1_000_000_000n, reason: 'refund', actor: 'ada' }],
    }),
    creditAccount: answering('creditAccount', { account: account('demo') }),
    createToken: answering('createToken', { token: own, key: 'rg_secret' }),
    revokeToken: answering('revokeToken', { token: { ...own, revokedAt: timestampFromMs(9) } }),
    updateTokenLimits: answering('updateTokenLimits', { token: { ...own, limitNanos: 2_500_000_000n } }),
  };
  console = await startOperatorUnderTest({
    operator: {
      accounts,
      usage: { getUsage: answering('getUsage', { groups: [], total: {}, currency: 'USD' }) },
    },
  });
});
afterEach(() => console.stop());

describe('the accounts', () => {
  test('are listed by id, and a page names the next one', async () => {
    const { json } = await console.as('viewer', 'GET', '/accounts?prefix=d&after=abe');

    expect(json).toMatchObject({ accounts: [ROW, { id: 'lab' }], after: 'lab' });
    expect(asked).toMatchObject([['listAccounts', { limit: 50, order: AccountOrder.ID, prefix: 'd', after: 'abe' }]]);
  });
  test('have one page by what is free', async () => {
    const { json } = await console.as('viewer', 'GET', '/accounts?order=balance');

    expect(json).not.toHaveProperty('after');
    expect(asked).toMatchObject([['listAccounts', { order: AccountOrder.BALANCE }]]);
  });
});

test('an account has its tokens, credits and usage, and says who may change it', async () => {
  const { json } = await console.as('viewer', 'GET', '/accounts/demo?from=2026-01-01&to=2026-01-02&split=token');

  expect(json).toMatchObject({
    account: ROW,
    tokens: [{ id: 'token_1', name: 'main', used: { amount: '0', currency: 'USD' }, isOwn: false }],
    credits: [{ at: 7, amount: { amount: '-1', currency: 'USD' }, reason: 'refund', actor: 'ada' }],
    usage: { days: ['2026-01-01', '2026-01-02'], series: [], split: 'token' },
    canChange: false,
  });
  expect(asked).toMatchObject([
    ['getUsage', { accountId: 'demo', groupBy: UsageGroup.DAY, splitBy: UsageGroup.TOKEN }],
  ]);
  expect((await console.as('treasurer', 'GET', '/accounts/demo')).json.canChange).toBe(true);
});

describe('credit', () => {
  test('is booked once for a request id, with the reason and the name of the operator', async () => {
    const { json } = await console.as('treasurer', 'POST', '/accounts/demo/credit', CREDIT);

    expect(json).toEqual(ROW);
    expect(asked).toMatchObject([
      [
        'creditAccount',
        { id: 'demo', amountNanos: 12_500_000_000n, reason: 'invoice 7', actor: 'treasurer', requestId: 'click-0001' },
      ],
    ]);
  });
  test('that is negative takes money back', async () => {
    await console.as('treasurer', 'POST', '/accounts/demo/credit', { ...CREDIT, amount: '-0.5' });

    expect(asked).toMatchObject([['creditAccount', { amountNanos: -500_000_000n }]]);
  });
  test.each([
    ['amount', { amount: '0' }],
    ['amount', { amount: '1,5' }],
    ['amount', { amount: '0.0000000001' }],
    ['amount', { amount: '1e9' }],
    ['amount', { amount: 5 }],
    ['reason', { reason: ' ' }],
    ['requestId', { requestId: 'short' }],
    ['requestId', { requestId: undefined }],
    ['actor', { actor: 'somebody' }],
  ])('with a wrong %s is refused: %j', async (field, wrong) => {
    const { status, json } = await console.as('treasurer', 'POST', '/accounts/demo/credit', { ...CREDIT, ...wrong });

    expect({ status, param: json.error.param }).toEqual({ status: 400, param: field });
    expect(asked).toEqual([]);
  });
  test('that billing refuses names the field of the form', async () => {
    const wrong = { field: 'amount_nanos', message: 'is too much' };
    refusal = new Problem({ kind: 'invalid', reason: 'invalid_request', ...wrong });

    expect((await console.as('treasurer', 'POST', '/accounts/demo/credit', CREDIT)).json.error).toMatchObject({
      param: 'amount',
      message: 'amount is too much',
    });
  });
});

describe('a token of an account', () => {
  test('is made in the name of the operator, who sees its key once', async () => {
    const { json } = await console.as('treasurer', 'POST', '/accounts/demo/tokens', { ...FORM, limit: '2.50' });

    expect(json).toMatchObject({ key: 'rg_secret', token: { id: 'token_1', isOwn: false } });
    expect(asked).toMatchObject([
      ['createToken', { accountId: 'demo', actor: 'treasurer', makerTokenId: '', limitNanos: 2_500_000_000n }],
    ]);
  });
  test('is revoked in the name of the operator', async () => {
    const { json } = await console.as('treasurer', 'DELETE', '/accounts/demo/tokens/token_1?with_made=true');

    expect(json).toMatchObject({ token: { id: 'token_1', revokedAt: 9 }, madeRevoked: 0 });
    expect(asked).toMatchObject([
      ['revokeToken', { id: 'token_1', actor: 'treasurer', revokerTokenId: '', withMade: true }],
    ]);
  });
  test('gets all of its limits anew, and those that the form leaves out end', async () => {
    const form = { limit: '2.50', inFlight: 3, wait: 'none', reason: 'a new plan' };
    const { json } = await console.as('treasurer', 'POST', '/accounts/demo/tokens/token_1/limits', form);

    expect(json).toMatchObject({ id: 'token_1', limit: { amount: '2.5', currency: 'USD' } });
    expect(asked).toMatchObject([
      [
        'updateTokenLimits',
        {
          id: 'token_1',
          limitNanos: 2_500_000_000n,
          limits: { inFlight: 3, createsPerMinute: 0, readsPerMinute: 0, callsPerMinute: 0 },
          queue: { wait: TokenWait.NONE, class: TokenClass.STANDARD },
          actor: 'treasurer',
          reason: 'a new plan',
        },
      ],
    ]);
  });
  test.each([
    ['DELETE', '/accounts/demo/tokens/token_2', undefined],
    ['POST', '/accounts/demo/tokens/token_2/limits', { reason: 'why' }],
  ])('is not found under another account: %s %s', async (method, path, body) => {
    const { status, json } = await console.as('treasurer', method, path, body);

    expect({ status, code: json.error.code }).toEqual({ status: 404, code: 'token_not_found' });
    expect(asked).toEqual([]);
  });
});

test.each([
  ['POST', '/accounts/demo/credit', CREDIT],
  ['POST', '/accounts/demo/tokens', FORM],
  ['DELETE', '/accounts/demo/tokens/token_1', undefined],
  ['POST', '/accounts/demo/tokens/token_1/limits', { reason: 'why' }],
  ['POST', '/money/verify', undefined],
])('%s %s needs a treasurer', async (method, path, body) => {
  for (const role of ['viewer', 'operator'] as const) {
    const { status, json } = await console.as(role, method, path, body);

    expect({ status, code: json.error.code }).toEqual({ status: 403, code: 'role_missing' });
  }
  expect(asked).toEqual([]);
});
