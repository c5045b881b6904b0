import { expect, test } from '@jest/globals';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { UsageGroup } from '@reelgate/proto/billing/v1/usage_service';
import { CENT, expectSound } from '../../../testing/books.ts';
import { CHAT_PRICES, HOUR_MS, callOrder, usedTokens } from '../../../testing/call-orders.ts';
import { describeOnEngines } from '../../../testing/describe-on-engines.ts';
import { PRICES, aConfig, order } from '../../../testing/open-billing.ts';
import type { TestBilling } from '../../../testing/open-billing.ts';

const DAY_MS = 24 * HOUR_MS;
const START = Date.UTC(2026, 0, 1);
const END = START + 30 * DAY_MS;
/** One call of a thousand input tokens. */
const CALL = CENT / 10n;
/** A task of five seconds. */
const TASK = 40n * CENT;
const config = aConfig({ prices: { ...PRICES, ...CHAT_PRICES } });

type Sums = Readonly<Record<string, bigint>>;

async function sumsBy({ usage }: TestBilling, to = END, groupBy = UsageGroup.LABEL): Promise<Sums> {
  const period = { accountId: 'demo', from: timestampFromMs(START), to: timestampFromMs(to) };
  const { groups, total } = await usage.getUsage({ ...period, groupBy });
  const sums = Object.fromEntries(groups.map(({ key, amountNanos }) => [key, amountNanos]));
  expect(groups.reduce((sum, { requests }) => sum + requests, 0n)).toBe(total?.requests);
  return { ...sums, total: total?.amountNanos ?? 0n };
}

const settleTask = async (on: TestBilling, taskId: string, label = ''): Promise<void> => {
  await on.billing.placeHold({ ...order(on, taskId), label });
  await on.billing.settleHold({ taskId });
};

/** Two labels and none on the first day, the first label and none on the next; some are released. */
async function fillAccount(on: TestBilling): Promise<void> {
  for (const [id, label] of [
    ['task_1', 'spring'],
    ['task_2', 'autumn'],
    ['task_3', ''],
  ] as const)
    await settleTask(on, id, label);
  await on.billing.placeHold({ ...order(on, 'task_4'), label: 'spring' });
  await on.billing.releaseHold({ taskId: 'task_4' });
  await on.clock.advance(DAY_MS);
  const labels = { call_1: 'spring', call_2: '', call_3: 'spring', call_4: 'spring' };
  await on.calls.placeCalls({
    calls: Object.entries(labels).map(([id, label]) => callOrder(on, id, { label })),
  });
  await on.calls.settleCalls({
    ends: [
      ...['call_1', 'call_2', 'call_3'].map((id) => usedTokens(id, 1000n, 0n)),
      { callId: 'call_4', basis: Basis.RELEASED },
    ],
  });
}

const EXPECTED: Sums = {
  spring: TASK + 2n * CALL,
  autumn: TASK,
  '': TASK + CALL,
  total: 3n * TASK + 3n * CALL,
};

const labelHours = ({ sql }: TestBilling): Promise<readonly object[]> =>
  sql.read('SELECT * FROM label_hours ORDER BY account_id, hour, label, token_id, price_key');

describeOnEngines('usage by label', (open) => {
  test.each([
    ['whole hours', END],
    ['partial hours', START + DAY_MS + 1],
  ])('sums with what has no label to the total, by %s', async (_what, to) => {
    const on = await open(config);
    await fillAccount(on);

    expect(await sumsBy(on, to)).toEqual(EXPECTED);
    expect((await sumsBy(on, to, UsageGroup.MODEL))['total']).toBe(EXPECTED['total']);
    await expectSound(on);
  });

  test('splits days, and the parts of a day sum to it', async () => {
    const on = await open(config);
    await fillAccount(on);
    const period = { accountId: 'demo', from: timestampFromMs(START), to: timestampFromMs(END) };

    const { groups } = await on.usage.getUsage({
      ...period,
      groupBy: UsageGroup.DAY,
      splitBy: UsageGroup.LABEL,
    });

    expect(groups.map(({ key, splitKey, amountNanos }) => [key, splitKey, amountNanos])).toEqual([
      ['2026-01-01', '', TASK],
      ['2026-01-01', 'autumn', TASK],
      ['2026-01-01', 'spring', TASK],
      ['2026-01-02', '', CALL],
      ['2026-01-02', 'spring', 2n * CALL],
    ]);
  });

  test('is empty for an account without a charge, and has one group for one without a label', async () => {
    const on = await open(config);
    expect(await sumsBy(on)).toEqual({ total: 0n });
    await settleTask(on, 'task_1');

    expect(await sumsBy(on)).toEqual({ '': TASK, total: TASK });
    expect(await labelHours(on)).toEqual([]);
  });

  test('is of one account: a label of another one is not there', async () => {
    const on = await open({
      ...config,
      accounts: [...config.accounts, { id: 'rival', currency: 'USD', credit: '9', upstream_accounts: [], tokens: [] }],
    });
    const { token } = await on.accounts.createToken({ accountId: 'rival', models: ['*'] });
    await settleTask(on, 'task_1', 'spring');
    await on.billing.placeHold({
      ...order({ tokenId: token!.id }, 'task_2'),
      accountId: 'rival',
      label: 'secret',
    });
    await on.billing.settleHold({ taskId: 'task_2' });

    expect(await sumsBy(on)).toEqual({ spring: TASK, total: TASK });
  });

  test('has the label of the first placement of a hold, and each item shows it', async () => {
    const on = await open(config);
    const { hold } = await on.billing.placeHold({ ...order(on, 'task_1'), label: 'spring' });
    const again = await on.billing.placeHold({ ...order(on, 'task_1'), label: 'autumn' });
    await on.billing.settleHold({ taskId: 'task_1' });
    await settleTask(on, 'task_2');
    const period = { accountId: 'demo', from: timestampFromMs(START), to: timestampFromMs(END) };
    const { items } = await on.usage.listChargedItems(period);

    expect([hold?.label, again.hold?.label]).toEqual(['spring', 'spring']);
    expect(items.map(({ id, label }) => [id, label])).toEqual([
      ['task_1', 'spring'],
      ['task_2', ''],
    ]);
  });

  test.each(['two words', 'x'.repeat(65), 'a\nb'])('a label that no client may give is refused: %j', async (label) => {
    const on = await open(config);
    const call = { ...callOrder(on, 'call_1'), label };

    await expect(on.billing.placeHold({ ...order(on, 'task_1'), label })).rejects.toMatchObject({ field: 'label' });
    expect((await on.calls.placeCalls({ calls: [call] })).placed[0]?.result.case).toBe('refusal');
    await expect(on.accounts.createToken({ accountId: 'demo', models: ['*'], label })).rejects.toMatchObject({
      field: 'label',
    });
  });

  test.each([
    'UPDATE label_hours SET charged_nanos = charged_nanos + 7',
    'UPDATE label_hours SET seconds = seconds + 1',
    'DELETE FROM label_hours',
    'UPDATE label_hours SET hour = hour + 3600000',
  ])('is as it was after a rebuild: %s', async (tampering) => {
    const on = await open(config);
    await fillAccount(on);
    const hours = await labelHours(on);
    await on.sql.write(tampering);
    const isFound = !/seconds|hour =/.test(tampering);
    const [label] = ['the hourly usage of the labels of the account demo differs from their charges'];

    expect((await on.accounts.verifyLedger({})).faults).toEqual(isFound ? [label] : []);
    expect(await on.accounts.rebuildBalances({})).toMatchObject({ tokenIds: [] });
    expect(await labelHours(on)).toEqual(hours);
    await expectSound(on);
  });

  test('is written once for a settlement that is repeated', async () => {
    const on = await open(config);
    await settleTask(on, 'task_1', 'spring');
    await on.billing.settleHold({ taskId: 'task_1' });

    expect(await sumsBy(on)).toEqual({ spring: TASK, total: TASK });
  });
});

describeOnEngines('the label of a token', (open) => {
  test('is in its principal, is changed or removed with its limits, and stays where they do not name it', async () => {
    const on = await open(config);
    const made = await on.accounts.createToken({ accountId: 'demo', models: ['*'], label: 'spring' });
    const id = made.token!.id;
    const labelNow = async () => (await on.billing.getPrincipal({ tokenId: id })).principal?.label;
    const update = async (label?: string) => {
      await on.accounts.updateTokenLimits({ id, ...(label === undefined ? {} : { label }) });
      return labelNow();
    };

    expect([made.token?.label, await labelNow()]).toEqual(['spring', 'spring']);
    expect([await update(), await update('autumn'), await update('')]).toEqual(['spring', 'autumn', '']);
    expect((await on.billing.getPrincipal({ tokenId: on.tokenId })).principal?.label).toBe('');
  });
});
