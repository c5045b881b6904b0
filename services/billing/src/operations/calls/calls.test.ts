import type { MessageInitShape } from '@bufbuild/protobuf';
import { describe, expect, test } from '@jest/globals';
import { fromWireProblem } from '@reelgate/platform/rpc/problems';
import type { CallUsageSchema } from '@reelgate/proto/billing/v1/call_service';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { CENT, DOLLAR, books, expectSound } from '../../../testing/books.ts';
import { CHAT_PRICES, HOUR_MS, callOrder, usedTokens } from '../../../testing/call-orders.ts';
import { describeOnEngines } from '../../../testing/describe-on-engines.ts';
import { aConfig, order } from '../../../testing/open-billing.ts';
import type { ConfigValue, TestBilling } from '../../../testing/open-billing.ts';

type Facts = NonNullable<Parameters<typeof callOrder>[2]>['facts'];
type Usage = MessageInitShape<typeof CallUsageSchema>;
interface End {
  readonly basis: Basis;
  readonly usage?: Usage;
}

const MILL = CENT / 10n;
const THOUSAND_IN = { inputTokens: 1000n };
const THOUSANDS = { inputTokens: 1000n, outputTokens: 1000n };
const byUsage = (usage: Usage): End => ({ basis: Basis.USAGE, usage });
const byEstimate = (usage: Usage): End => ({ basis: Basis.ESTIMATE, usage });
const chatConfig = (some: Parameters<typeof aConfig>[0] = {}): ConfigValue => aConfig({ prices: CHAT_PRICES, ...some });
const nameOf = (index: number): string => `call_${String(index).padStart(4, '0')}`;
const many = (on: TestBilling, count: number, some: Parameters<typeof callOrder>[2] = {}) =>
  Array.from({ length: count }, (_, index) => callOrder(on, nameOf(index), some));

async function reasons({ calls }: TestBilling, orders: ReturnType<typeof callOrder>[]): Promise<string[]> {
  const { placed } = await calls.placeCalls({ calls: orders });
  return placed.map(({ result }) => (result.case === 'refusal' ? result.value.reason : 'held'));
}

describeOnEngines('the charges of calls', (open) => {
  test('are listed by their ids, for their own account', async () => {
    const on = await open(chatConfig());
    await on.calls.placeCalls({ calls: many(on, 2) });
    await on.calls.settleCalls({ ends: [{ callId: nameOf(1), basis: Basis.HOLD }] });
    const taskIds = [nameOf(0), nameOf(1), 'call_none'];

    const { charges } = await on.billing.listCharges({ taskIds });

    expect(charges.map(({ taskId, accountId, basis }) => [taskId, accountId, basis]).sort()).toEqual([
      [nameOf(0), 'demo', Basis.UNSPECIFIED],
      [nameOf(1), 'demo', Basis.HOLD],
    ]);
    expect((await on.billing.listCharges({ accountId: 'b', taskIds })).charges).toEqual([]);
  });
});

describeOnEngines('calls', (open) => {
  test('return their refusals alone when the caller asks for no more', async () => {
    const on = await open(chatConfig({ credit: '0.01' }));
    const orders = [...many(on, 3), callOrder(on, 'call_x', { priceKeys: ['no-price'] }), callOrder(on, '')];

    const { placed, refused, held } = await on.calls.placeCalls({ calls: orders, refusalsOnly: true });

    expect([placed, held]).toEqual([[], 2]);
    expect(refused.map(({ callId, refusal }) => [callId, refusal?.reason])).toEqual([
      [nameOf(2), 'insufficient_quota'],
      ['call_x', 'model_price_error'],
      ['', 'invalid_request'],
    ]);
    expect(
      (await on.calls.settleCalls({ ends: [usedTokens(nameOf(0), 1n, 0n)], withoutSettlements: true })).settlements,
    ).toEqual([]);
    expect((await on.calls.settleCalls({ ends: [usedTokens(nameOf(0), 9n, 9n)] })).settlements).toMatchObject([
      { basis: Basis.USAGE },
    ]);
  });

  test('are held under their first key with a contract, and charged by their usage', async () => {
    const on = await open(chatConfig());

    const { placed } = await on.calls.placeCalls({
      calls: [
        callOrder(on, 'call_1'),
        callOrder(on, 'call_2', { priceKeys: ['chat__images_generations', 'chat'], facts: { images: 2n } }),
      ],
    });

    expect(placed.map(({ result }) => result.value)).toMatchObject([
      { amountNanos: 5n * MILL, currency: 'USD', contract: 'chat', version: 1 },
      { amountNanos: 8n * CENT, contract: 'chat__images_generations' },
    ]);
    expect(await books(on)).toEqual({ balance: 100n * DOLLAR, held: 85n * MILL, used: 85n * MILL });
    await expectSound(on);

    const { settlements } = await on.calls.settleCalls({
      ends: [usedTokens('call_1', 500n, 100n), { callId: 'call_2', basis: Basis.USAGE, usage: { images: 1n } }],
    });

    expect(settlements).toMatchObject([
      { amountNanos: 900_000n, basis: Basis.USAGE },
      { amountNanos: 4n * CENT, basis: Basis.USAGE },
    ]);
    expect(await books(on)).toEqual({ balance: 100n * DOLLAR - 40_900_000n, held: 0n, used: 40_900_000n });
    await expectSound(on);
  });

  describe('that are sent ahead of the disk', () => {
    const placeAhead = async (on: TestBilling, calls: ReturnType<typeof callOrder>[]): Promise<string> =>
      (await on.calls.placeCalls({ calls, refusalsOnly: true, ahead: true })).unwrittenBatch;

    test('have their money reserved at once, and a batch to confirm once if the database is embedded', async () => {
      const on = await open(chatConfig());
      const unwrittenBatch = await placeAhead(on, [callOrder(on, 'call_1')]);

      expect(unwrittenBatch).toMatch(on.sql.engine === 'sqlite' ? /^batch_/ : /^$/);
      expect(await books(on)).toMatchObject({ held: 5n * MILL });
      if (unwrittenBatch === '') return;
      await on.calls.confirmCalls({ unwrittenBatch });
      await expect(on.calls.confirmCalls({ unwrittenBatch })).rejects.toMatchObject({ reason: 'service_unavailable' });
    });

    test('never reserve more than the account has', async () => {
      const on = await open(chatConfig({ credit: '0.01' }));
      const answers = await Promise.all(
        many(on, 4).map((one) => on.calls.placeCalls({ calls: [one], refusalsOnly: true, ahead: true })),
      );

      expect(answers.map(({ held }) => held).toSorted()).toEqual([0, 0, 1, 1]);
      await expectSound(on);
    });

    test('are durable with their answer if one of them holds more than `send_ahead_max`', async () => {
      const on = await open({ ...chatConfig(), billing: { overrun_factor: 10, send_ahead_max: '0.005' } });
      const large = callOrder(on, 'call_2', { facts: { inputTokens: 1001n, outputTokens: 1000n } });

      expect(await placeAhead(on, [callOrder(on, 'call_1'), large])).toBe('');
      expect(await placeAhead(on, [callOrder(on, 'call_3')])).toMatch(on.sql.engine === 'sqlite' ? /^batch_/ : /^$/);
    });

    test('are durable with their answer if the caller does not ask for more', async () => {
      const on = await open(chatConfig());

      expect(await on.calls.placeCalls({ calls: [callOrder(on, 'call_1')] })).toMatchObject({ unwrittenBatch: '' });
    });
  });

  test('of one batch and account share one event for holds and one for charges', async () => {
    const on = await open(chatConfig());
    await on.calls.placeCalls({ calls: many(on, 40) });
    await on.calls.settleCalls({ ends: many(on, 40).map((_, index) => usedTokens(nameOf(index), 1000n, 0n)) });

    const lines = await on.sql.read(
      `SELECT e.kind, l.book, l.amount_nanos FROM financial_events e
       JOIN ledger_lines l ON l.event_key = e.event_key
       WHERE e.kind LIKE '%_calls' ORDER BY e.kind, l.book`,
    );

    expect(lines.map((line) => ({ ...line }))).toEqual([
      { kind: 'hold_calls', book: 'available:demo', amount_nanos: -200_000_000 },
      { kind: 'hold_calls', book: 'held:demo', amount_nanos: 200_000_000 },
      { kind: 'settle_calls', book: 'available:demo', amount_nanos: 160_000_000 },
      { kind: 'settle_calls', book: 'held:demo', amount_nanos: -200_000_000 },
      { kind: 'settle_calls', book: 'revenue', amount_nanos: 40_000_000 },
    ]);
  });

  test.each<[string, string, Facts, End, bigint, Basis]>([
    ['more than the hold, by usage', 'chat', THOUSANDS, byUsage({ outputTokens: 10_000n }), 4n * CENT, Basis.USAGE],
    ['at most ten times the hold', 'chat', THOUSANDS, byUsage({ outputTokens: 20_000n }), 5n * CENT, Basis.USAGE],
    [
      'at most the hold, by an estimate',
      'chat',
      THOUSANDS,
      byEstimate({ outputTokens: 10_000n }),
      5n * MILL,
      Basis.ESTIMATE,
    ],
    ['less than the hold, by an estimate', 'chat', THOUSANDS, byEstimate({ inputTokens: 1000n }), MILL, Basis.ESTIMATE],
    [
      'less for cached input',
      'chat',
      THOUSAND_IN,
      byUsage({ inputTokens: 1000n, cachedInputTokens: 800n }),
      400_000n,
      Basis.USAGE,
    ],
    [
      'at most the input as cached input',
      'chat',
      THOUSAND_IN,
      byUsage({ inputTokens: 1000n, cachedInputTokens: 5000n }),
      250_000n,
      Basis.USAGE,
    ],
    ['the hold when the usage has no priced quantity', 'chat', {}, byUsage({ seconds: 7n }), CENT, Basis.HOLD],
    ['the hold when the caller asks for it', 'chat', {}, { basis: Basis.HOLD }, CENT, Basis.HOLD],
    ['nothing after a release', 'chat', {}, { basis: Basis.RELEASED }, 0n, Basis.RELEASED],
    ['seconds that were unknown at first', 'hear', {}, byUsage({ seconds: 9n }), 9n * MILL, Basis.USAGE],
    ['the hold when seconds stay unknown', 'hear', {}, { basis: Basis.USAGE }, 6n * CENT, Basis.HOLD],
    ['characters', 'speak', { characters: 200n }, byUsage({ characters: 100n }), 1_500_000n, Basis.USAGE],
    [
      'characters as they were ordered',
      'speak',
      { characters: 200n },
      { basis: Basis.USAGE },
      3_000_000n,
      Basis.ESTIMATE,
    ],
    ['the price of one request', 'rank', {}, { basis: Basis.USAGE }, 2n * MILL, Basis.ESTIMATE],
    ['the hold for invalid usage', 'chat', {}, byUsage({ inputTokens: -5n }), CENT, Basis.HOLD],
    [
      'ten times the hold for impossible usage',
      'chat',
      {},
      byUsage({ inputTokens: 2n ** 63n - 1n }),
      10n * CENT,
      Basis.USAGE,
    ],
  ])('are charged %s', async (_what, key, facts, end, amountNanos, basis) => {
    const on = await open(chatConfig());
    await on.calls.placeCalls({ calls: [callOrder(on, 'call_1', { priceKeys: [key], facts })] });

    const { settlements } = await on.calls.settleCalls({ ends: [{ callId: 'call_1', ...end }] });

    expect(settlements).toMatchObject([{ amountNanos, basis }]);
    expect(await books(on)).toEqual({ balance: 100n * DOLLAR - amountNanos, held: 0n, used: amountNanos });
    await expectSound(on);
  });

  test('record what usage far above the hold left uncharged', async () => {
    const on = await open(chatConfig());
    await on.calls.placeCalls({ calls: [callOrder(on, 'call_1')] });
    await on.calls.settleCalls({ ends: [usedTokens('call_1', 0n, 20_000n)] });

    expect(
      (await on.sql.read('SELECT charged_nanos, uncharged_nanos, used_output_tokens FROM calls')).map((row) => ({
        ...row,
      })),
    ).toEqual([{ charged_nanos: 50_000_000, uncharged_nanos: 30_000_000, used_output_tokens: 20_000 }]);
    expect(await on.metrics.text()).toContain('reelgate_billing_call_overruns_total 1');
  });

  test('are placed once and charged once when batches repeat', async () => {
    const on = await open(chatConfig());
    const place = () => on.calls.placeCalls({ calls: [...many(on, 10), ...many(on, 3)] });
    const [first, second] = [await place(), await place()];
    const settle = (tokens: bigint) =>
      on.calls.settleCalls({ ends: Array.from({ length: 12 }, (_, index) => usedTokens(nameOf(index), tokens, 0n)) });
    const charged = await settle(1000n);
    const again = await settle(7000n);
    const third = await place();

    expect([second, third]).toEqual([first, first]);
    expect(again).toEqual(charged);
    expect(charged.settlements.slice(0, 10)).toMatchObject(Array(10).fill({ amountNanos: MILL, basis: Basis.USAGE }));
    expect(charged.settlements.slice(10)).toMatchObject(Array(2).fill({ amountNanos: 0n, basis: Basis.UNSPECIFIED }));
    expect(await books(on)).toEqual({ balance: 100n * DOLLAR - 10n * MILL, held: 0n, used: 10n * MILL });
    await expectSound(on);
  });

  test('keep their hold when the price is removed, and are charged by its version', async () => {
    const on = await open(chatConfig());
    await on.calls.placeCalls({ calls: [callOrder(on, 'call_1')] });
    await on.service.reload(aConfig({ prices: {} }));

    expect(await reasons(on, [callOrder(on, 'call_1'), callOrder(on, 'call_2')])).toEqual([
      'held',
      'model_price_error',
    ]);
    expect((await on.calls.settleCalls({ ends: [usedTokens('call_1', 1000n, 0n)] })).settlements).toMatchObject([
      { amountNanos: MILL },
    ]);
  });

  test('cannot be placed after a release, even when the release came first', async () => {
    const on = await open(chatConfig());
    await on.calls.placeCalls({ calls: [callOrder(on, 'call_1')] });

    const { settlements } = await on.calls.settleCalls({
      ends: [
        { callId: 'call_1', basis: Basis.RELEASED },
        { callId: 'call_2', basis: Basis.RELEASED },
      ],
    });

    expect(settlements).toMatchObject(Array(2).fill({ amountNanos: 0n, basis: Basis.RELEASED }));
    expect(await reasons(on, [callOrder(on, 'call_1'), callOrder(on, 'call_2'), callOrder(on, 'call_3')])).toEqual([
      'hold_voided',
      'hold_voided',
      'held',
    ]);
    expect(await books(on)).toMatchObject({ held: 5n * MILL });
    await expectSound(on);
  });

  test('are refused one by one when the balance does not cover all of them', async () => {
    const on = await open(chatConfig({ credit: '0.0275' }));

    expect(
      await reasons(on, [
        ...many(on, 4),
        callOrder(on, 'call_x', { facts: { inputTokens: 8000n } }),
        callOrder(on, 'call_y', { facts: { inputTokens: 7500n } }),
        callOrder(on, 'call_z'),
      ]),
    ).toEqual(['held', 'held', 'held', 'held', 'insufficient_quota', 'held', 'insufficient_quota']);
    expect(await books(on)).toEqual({
      balance: (275n * CENT) / 100n,
      held: (275n * CENT) / 100n,
      used: (275n * CENT) / 100n,
    });
    await expectSound(on);
  });

  test('are refused one by one when the token limit does not cover all of them', async () => {
    const on = await open(chatConfig({ token: { limit: '0.012' } }));
    const { token } = await on.accounts.createToken({ accountId: 'demo', models: ['*'] });

    expect(await reasons(on, [...many(on, 4), callOrder(on, 'call_x', { tokenId: token!.id })])).toEqual([
      'held',
      'held',
      'insufficient_quota',
      'insufficient_quota',
      'held',
    ]);
    expect(await books(on)).toMatchObject({ held: 15n * MILL, used: 10n * MILL });
    await expectSound(on);
  });

  test('are refused each for its own reason, while the others of the batch are placed', async () => {
    const value = chatConfig();
    const on = await open({
      ...value,
      accounts: [...value.accounts, { id: 'other', currency: 'EUR', credit: '1', tokens: [] }],
    });
    const { token: foreign } = await on.accounts.createToken({ accountId: 'other', models: ['*'] });
    const { token: revoked } = await on.accounts.createToken({ accountId: 'demo', models: ['*'] });
    await on.accounts.revokeToken({ id: revoked!.id });
    await on.calls.placeCalls({ calls: [callOrder(on, 'call_0')] });

    expect(
      await reasons(on, [
        callOrder(on, 'call_1'),
        callOrder(on, 'call_2', { priceKeys: ['nothing'] }),
        callOrder(on, 'call_3', { accountId: 'nobody' }),
        callOrder(on, 'call_4', { tokenId: 'token_x' }),
        callOrder(on, 'call_5', { tokenId: revoked!.id }),
        callOrder(on, 'call_6', { tokenId: foreign!.id }),
        callOrder(on, 'call_7', { accountId: 'other', tokenId: foreign!.id }),
        callOrder(on, 'call_0', { accountId: 'other', tokenId: foreign!.id }),
        callOrder(on, ''),
        callOrder(on, 'call_8', { facts: { inputTokens: -1n } }),
        callOrder(on, 'call_9', { facts: { inputTokens: 2n ** 62n } }),
      ]),
    ).toEqual([
      'held',
      'model_price_error',
      'account_not_found',
      'token_not_found',
      'token_disabled',
      'token_not_found',
      'held',
      'call_id_taken',
      'invalid_request',
      'invalid_request',
      'model_price_error',
    ]);
    expect(await books(on)).toMatchObject({ held: 10n * MILL, used: 10n * MILL });
    expect((await on.sql.read('SELECT id FROM calls ORDER BY id')).map(({ id }) => id)).toEqual([
      'call_0',
      'call_1',
      'call_7',
    ]);
    await expectSound(on);
  });

  test('are refused with a problem that the caller can pass on', async () => {
    const on = await open(chatConfig({ credit: '0.001' }));

    const { placed } = await on.calls.placeCalls({ calls: [callOrder(on, 'call_1')] });

    const { result } = placed[0]!;
    expect(result.case === 'refusal' && fromWireProblem(result.value)).toMatchObject({
      kind: 'exhausted',
      reason: 'insufficient_quota',
      message: expect.stringContaining('0.001 USD'),
      field: undefined,
    });
  });

  test.each([0, 1001])('are refused in batches of %s', async (count) => {
    const on = await open(chatConfig());

    await expect(on.calls.placeCalls({ calls: many(on, count) })).rejects.toMatchObject({
      kind: 'invalid',
      field: 'calls',
    });
    await expect(
      on.calls.settleCalls({ ends: Array.from({ length: count }, (_, index) => usedTokens(nameOf(index), 1n, 1n)) }),
    ).rejects.toMatchObject({ kind: 'invalid', field: 'ends' });
  });

  test('that are never settled are charged by their hold when they expire', async () => {
    const on = await open(chatConfig());
    await on.calls.placeCalls({ calls: many(on, 3) });
    await on.calls.settleCalls({ ends: [{ callId: nameOf(0), basis: Basis.RELEASED }] });

    await on.clock.advance(HOUR_MS - 1);
    expect(await books(on)).toMatchObject({ held: 10n * MILL });
    await eventually(async () => {
      await on.clock.advance(60_000);
      return (await books(on)).held === 0n;
    });
    expect(await books(on)).toEqual({ balance: 100n * DOLLAR - 10n * MILL, held: 0n, used: 10n * MILL });

    expect((await on.calls.settleCalls({ ends: [usedTokens(nameOf(1), 1n, 0n)] })).settlements).toMatchObject([
      { amountNanos: 5n * MILL, basis: Basis.HOLD },
    ]);
    expect(await on.metrics.text()).toContain('reelgate_billing_call_lapses_total 2');
    await expectSound(on);
  });

  describe('that are sent ahead and never settled', () => {
    const lapse = async (on: TestBilling): Promise<void> => {
      await on.clock.advance(HOUR_MS);
      await eventually(async () => {
        await on.clock.advance(60_000);
        return (await books(on)).held === 0n;
      });
      await expectSound(on);
    };
    const ahead = async (on: TestBilling, calls: ReturnType<typeof callOrder>[]): Promise<string> =>
      (await on.calls.placeCalls({ calls, refusalsOnly: true, ahead: true })).unwrittenBatch;
    const confirm = async (on: TestBilling, unwrittenBatch: string): Promise<void> => {
      if (unwrittenBatch !== '') await on.calls.confirmCalls({ unwrittenBatch });
    };
    const charged = async (on: TestBilling): Promise<bigint> => 100n * DOLLAR - (await books(on)).balance;

    test('are charged their hold if a client may have seen an answer, and nothing otherwise', async () => {
      const first = await open(chatConfig());
      await confirm(first, await ahead(first, [callOrder(first, 'call_shown')]));
      await ahead(first, [callOrder(first, 'call_x'), callOrder(first, 'call_y')]);
      const on = await first.restart();
      await lapse(on);

      expect(await charged(on)).toBe((on.sql.engine === 'sqlite' ? 5n : 15n) * MILL);
    });

    test('are charged their hold if another request made them again and may have shown an answer', async () => {
      const on = await open(chatConfig());
      await ahead(on, [callOrder(on, 'call_1')]);
      await confirm(on, await ahead(on, [callOrder(on, 'call_1')]));
      await lapse(on);

      expect(await charged(on)).toBe(5n * MILL);
    });

    test('leave nothing to confirm when they have lapsed', async () => {
      const on = await open(chatConfig());
      await ahead(on, [callOrder(on, 'call_1')]);
      await lapse(on);
      await eventually(async () => {
        await on.clock.advance(60_000);
        return (await on.sql.read('SELECT batch_id FROM unconfirmed_batches')).length === 0;
      });
    });
  });

  test('in concurrent batches never overdraw by one unit', async () => {
    const on = await open(chatConfig({ credit: '0.5049' }));

    const batches = await Promise.all(
      Array.from({ length: 20 }, (_, batch) =>
        reasons(
          on,
          Array.from({ length: 10 }, (__, index) => callOrder(on, `call_${batch}_${index}`)),
        ),
      ),
    );

    expect(batches.flat().filter((word) => word === 'held')).toHaveLength(100);
    expect(batches.flat().filter((word) => word === 'insufficient_quota')).toHaveLength(100);
    expect(await books(on)).toEqual({ balance: 504_900_000n, held: 500_000_000n, used: 500_000_000n });
    await expectSound(on);
  });

  test('in concurrent settlements are charged once, and all callers get the same answer', async () => {
    const on = await open(chatConfig());
    const ids = many(on, 100).map(({ callId = '' }) => callId);
    await on.calls.placeCalls({ calls: many(on, 100) });

    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, batch) =>
        on.calls.settleCalls({ ends: ids.map((id) => usedTokens(id, BigInt(batch) * 100n, 1n)) }),
      ),
    );

    const charged = answers[0]!.settlements.map(({ amountNanos }) => amountNanos);
    expect(answers.map(({ settlements }) => settlements.map(({ amountNanos }) => amountNanos))).toEqual(
      Array(12).fill(charged),
    );
    expect((await books(on)).balance).toBe(100n * DOLLAR - charged.reduce((sum, amount) => sum + amount, 0n));
    await expectSound(on);
  });

  test('are placed and charged once while holds of the same account run', async () => {
    const on = await open({ ...chatConfig(), prices: { ...CHAT_PRICES, 'Alpha-H3': { per_second: '0.08' } } });
    const orders = many(on, 60);
    const holds = Array.from({ length: 20 }, async (_, index) => {
      await on.billing.placeHold(order(on, `task_${index}`));
      await on.billing.settleHold({ taskId: `task_${index}`, totalSeconds: 1n });
    });

    const outcomes = await Promise.allSettled([
      ...holds,
      ...Array.from({ length: 6 }, (_, shift) => reasons(on, orders.slice(shift * 8, shift * 8 + 20))),
      reasons(on, orders),
      ...Array.from({ length: 4 }, () =>
        on.calls.settleCalls({ ends: orders.map(({ callId = '' }) => usedTokens(callId, 1000n, 0n)) }),
      ),
    ]);
    await on.calls.settleCalls({ ends: orders.map(({ callId = '' }) => usedTokens(callId, 1000n, 0n)) });

    expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([]);
    expect(await books(on)).toEqual({
      balance: 100n * DOLLAR - 60n * MILL - 160n * CENT,
      held: 0n,
      used: 60n * MILL + 160n * CENT,
    });
    await expectSound(on);
  });
});

/** The worker starts a pass when its clock moves; the pass takes real time. */
async function eventually(isSo: () => Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('it did not come to be');
}
