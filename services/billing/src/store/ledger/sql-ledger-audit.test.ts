import { expect, test } from '@jest/globals';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { books, expectSound } from '../../../testing/books.ts';
import { CHAT_PRICES, HOUR_MS, callOrder, usedTokens } from '../../../testing/call-orders.ts';
import { describeOnEngines } from '../../../testing/describe-on-engines.ts';
import { PRICES, aConfig, order } from '../../../testing/open-billing.ts';
import type { Open } from '../../../testing/describe-on-engines.ts';
import type { TestBilling } from '../../../testing/open-billing.ts';

/** One hold that is open, one that was charged, one that went back, and a void; of calls the same. */
async function usedBooks(open: Open): Promise<TestBilling> {
  const on = await open(aConfig({ prices: { ...PRICES, ...CHAT_PRICES } }));
  await on.calls.placeCalls({ calls: ['call_1', 'call_2', 'call_3'].map((callId) => callOrder(on, callId)) });
  await on.calls.settleCalls({
    ends: [
      usedTokens('call_2', 1000n, 0n),
      { callId: 'call_3', basis: Basis.RELEASED },
      { callId: 'call_4', basis: Basis.RELEASED },
    ],
  });
  for (const taskId of ['task_1', 'task_2', 'task_3']) await on.billing.placeHold(order(on, taskId));
  await on.billing.settleHold({ taskId: 'task_2', totalSeconds: 6n });
  await on.billing.releaseHold({ taskId: 'task_3' });
  await on.billing.releaseHold({ taskId: 'task_4' });
  return on;
}

const hoursOf = ({ sql }: TestBilling): Promise<readonly object[]> =>
  sql.read('SELECT * FROM usage_hours ORDER BY account_id, hour, token_id, price_key');

describeOnEngines('the audit of the ledger', (open) => {
  test('finds no fault in sound books, and lists the open holds', async () => {
    const on = await usedBooks(open);

    expect(await on.accounts.verifyLedger({})).toMatchObject({
      ok: true,
      entries: 18n,
      sums: { USD: 0n },
      faults: [],
      openHoldTaskIds: ['task_1'],
      openCalls: 1n,
      overdueCalls: 0n,
    });
  });

  test('sums each currency separately', async () => {
    const value = aConfig();
    const on = await open({
      ...value,
      accounts: [...value.accounts, { id: 'other', currency: 'EUR', credit: '7', tokens: [] }],
    });

    expect(await on.accounts.verifyLedger({})).toMatchObject({ ok: true, sums: { USD: 0n, EUR: 0n } });
  });

  test('sums more than 64 bits can hold', async () => {
    const on = await open({
      ...aConfig(),
      accounts: Array.from({ length: 12 }, (_, index) => ({
        id: `rich-${index}`,
        currency: 'USD',
        credit: '1000000000',
        tokens: [],
      })),
    });

    expect(await on.accounts.verifyLedger({})).toMatchObject({ ok: true, sums: { USD: 0n } });
  });

  test.each([
    [
      'a changed line',
      "UPDATE ledger_lines SET amount_nanos = amount_nanos + 1 WHERE event_key = 'settle:task_2' AND book = 'revenue'",
      [
        'the lines in USD do not sum to zero',
        'the lines of the event settle:task_2 do not balance',
        'the hold of the task task_2 differs from the sum of its lines',
      ],
    ],
    [
      'a removed line',
      "DELETE FROM ledger_lines WHERE event_key = 'hold:task_1' AND book = 'held:demo'",
      ['the lines of the event hold:task_1 do not balance'],
    ],
    [
      'an event without lines',
      "DELETE FROM ledger_lines WHERE event_key = 'release:task_3'",
      [
        'the lines of the event release:task_3 do not balance',
        'the hold of the task task_3 differs from the sum of its lines',
      ],
    ],
    [
      'a changed balance',
      'UPDATE accounts SET balance_nanos = balance_nanos + 1',
      ['the balance of the account demo differs from the sum of its lines'],
    ],
    [
      'a changed sum of holds',
      'UPDATE accounts SET held_nanos = held_nanos - 1',
      ['the held amount of the account demo differs from the sum of its open holds and calls'],
    ],
    [
      'a changed hold',
      "UPDATE holds SET amount_nanos = amount_nanos + 1 WHERE task_id = 'task_1'",
      ['the hold of the task task_1 differs from the sum of its lines'],
    ],
    [
      'a hold that was closed by hand',
      "UPDATE holds SET state = 'released' WHERE task_id = 'task_1'",
      ['the hold of the task task_1 differs from the sum of its lines'],
    ],
    [
      'a changed charge',
      "UPDATE holds SET charged_nanos = charged_nanos - 1 WHERE task_id = 'task_2'",
      ['the hold of the task task_2 differs from the sum of its lines'],
    ],
    [
      'a changed call',
      "UPDATE calls SET amount_nanos = amount_nanos + 1 WHERE id = 'call_1'",
      [
        expect.stringMatching(/^the calls of the event hold_calls:/),
        'the held amount of the account demo differs from the sum of its open holds and calls',
      ],
    ],
    [
      'a changed charge of a call',
      "UPDATE calls SET charged_nanos = charged_nanos - 1 WHERE id = 'call_2'",
      [expect.stringMatching(/^the calls of the event settle_calls:/)],
    ],
    [
      'a call that was closed by hand',
      "UPDATE calls SET ended_at = 1, ended_in = 'x', basis = 'released', charged_nanos = 0 WHERE id = 'call_1'",
      ['the held amount of the account demo differs from the sum of its open holds and calls'],
    ],
    [
      'a removed call',
      "DELETE FROM calls WHERE id = 'call_1'",
      [
        expect.stringMatching(/^the calls of the event hold_calls:/),
        'the held amount of the account demo differs from the sum of its open holds and calls',
      ],
    ],
    [
      'calls with removed lines',
      "DELETE FROM ledger_lines WHERE event_key LIKE 'hold_calls:%' AND book LIKE 'held:%'",
      [expect.stringMatching(/^the lines of the event hold_calls:.* do not balance$/)],
    ],
    [
      'a changed use of a token',
      'UPDATE tokens SET used_nanos = used_nanos - 1',
      [expect.stringMatching(/^the used amount of the token token_\w+ differs/)],
    ],
  ])('finds %s', async (_what, tampering, faults) => {
    const on = await usedBooks(open);
    await on.sql.write(tampering);

    const proof = await on.accounts.verifyLedger({});

    expect(proof.ok).toBe(false);
    expect(proof.faults).toEqual(expect.arrayContaining(faults));
  });

  test.each([
    ['a balance', 'UPDATE accounts SET balance_nanos = balance_nanos + 7'],
    ['a sum of holds', 'UPDATE accounts SET held_nanos = held_nanos - 7'],
    ['a use of a token', 'UPDATE tokens SET used_nanos = used_nanos + 7'],
    ['an hour of usage', 'UPDATE usage_hours SET charged_nanos = charged_nanos + 7'],
    ["an hour's count", 'UPDATE usage_hours SET seconds = seconds - 1, requests = requests + 1'],
    ['a removed hour', 'DELETE FROM usage_hours'],
    ['an extra hour', 'UPDATE usage_hours SET hour = hour + 3600000'],
  ])('finds no fault after %s is rebuilt', async (_what, tampering) => {
    const on = await usedBooks(open);
    const before = await books(on);
    const hours = await hoursOf(on);
    await on.sql.write(tampering);

    const { accountIds, tokenIds } = await on.accounts.rebuildBalances({});

    expect([...accountIds, ...tokenIds]).toEqual([tampering.includes('tokens') ? on.tokenId : 'demo']);
    expect(await books(on)).toEqual(before);
    expect(await hoursOf(on)).toEqual(hours);
    await expectSound(on);
    expect(await on.accounts.rebuildBalances({})).toMatchObject({ accountIds: [], tokenIds: [] });
  });

  test('recounts an hour as the settlements counted it', async () => {
    const on = await open(aConfig({ prices: { ...PRICES, ...CHAT_PRICES } }));
    const billions = 5_000_000_000n;
    const usages = [
      {},
      { totalSeconds: 6n },
      { totalSeconds: billions },
      { promptTokens: 7n },
      { completionTokens: 9n, totalSeconds: 3n },
      { promptTokens: billions, completionTokens: billions },
    ];
    const callIds = ['call_1', 'call_2', 'call_3', 'call_4', 'call_5'];
    await on.calls.placeCalls({ calls: callIds.map((callId) => callOrder(on, callId)) });
    for (const at of usages.keys())
      await on.billing.placeHold(order(on, `task_${at}`, { images: BigInt(at), inputVideoSeconds: BigInt(at) }));
    for (const [at, usage] of usages.entries())
      await on.billing.settleHold({ taskId: `task_${at}`, confirmed: true, ...usage });
    await on.clock.advance(HOUR_MS);
    await on.calls.settleCalls({
      ends: [
        usedTokens('call_1', 1000n, 0n),
        usedTokens('call_2', 0n, 0n),
        usedTokens('call_3', 10n, 20n),
        { callId: 'call_4', basis: Basis.HOLD },
        { callId: 'call_5', basis: Basis.RELEASED },
      ],
    });
    const hours = await hoursOf(on);

    expect(await on.accounts.rebuildBalances({})).toMatchObject({ accountIds: [], tokenIds: [] });
    await on.sql.write('DELETE FROM usage_hours');
    expect(await on.accounts.rebuildBalances({})).toMatchObject({ accountIds: ['demo'], tokenIds: [] });

    expect(hours.length).toBeGreaterThan(1);
    expect(await hoursOf(on)).toEqual(hours);
  });

  test('finds no fault in sums that were rebuilt during traffic', async () => {
    const on = await open();
    const traffic = Array.from({ length: 60 }, async (_, index) => {
      await on.billing.placeHold(order(on, `task_${index}`));
      await on.billing.settleHold({ taskId: `task_${index}`, totalSeconds: BigInt(index % 9) });
    });

    const rebuilt = await Promise.all(Array.from({ length: 8 }, () => on.accounts.rebuildBalances({})));
    await Promise.all(traffic);

    expect(rebuilt.flatMap(({ accountIds, tokenIds }) => [...accountIds, ...tokenIds])).toEqual([]);
    await expectSound(on);
  });

  test('lists calls that the sweep left behind', async () => {
    const on = await usedBooks(open);
    await on.sql.write('UPDATE calls SET lapses_at = $1 WHERE ended_at IS NULL', [on.clock.now() - HOUR_MS]);

    expect(await on.accounts.verifyLedger({})).toMatchObject({ ok: true, openCalls: 1n, overdueCalls: 1n });
  });

  test('finds no fault in books that change during the audit', async () => {
    const on = await open();
    const traffic = Array.from({ length: 60 }, async (_, index) => {
      await on.billing.placeHold(order(on, `task_${index}`));
      await on.billing.settleHold({ taskId: `task_${index}`, totalSeconds: BigInt(index % 9) });
    });

    const proofs = await Promise.all(Array.from({ length: 8 }, () => on.accounts.verifyLedger({})));
    await Promise.all(traffic);

    expect(proofs.flatMap(({ faults }) => faults)).toEqual([]);
  });
});
