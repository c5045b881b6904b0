import { expect, test } from '@jest/globals';
import { AccountOrder } from '@reelgate/proto/billing/v1/account_service';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { CENT, DOLLAR } from '../../../testing/books.ts';
import { describeOnEngines } from '../../../testing/describe-on-engines.ts';
import { aConfig, order } from '../../../testing/open-billing.ts';
import { sqlAccountList } from '../../store/accounts/sql-account-store.ts';

const account = (id: string, credit: string) => ({ id, currency: 'USD', credit, tokens: [] });
const many = {
  ...aConfig(),
  accounts: [...aConfig().accounts, account('ab-1', '5'), account('ab-2', '3'), account('b', '7')],
};
const ids = ({ accounts }: { readonly accounts: readonly { readonly id: string }[] }) => accounts.map(({ id }) => id);

describeOnEngines('the list of accounts', (open) => {
  test('comes in pages by id, each after the last of the page before', async () => {
    const on = await open(many);

    const first = await on.accounts.listAccounts({ limit: 3 });
    const second = await on.accounts.listAccounts({ limit: 3, after: 'b' });

    expect([ids(first), first.hasMore]).toEqual([['ab-1', 'ab-2', 'b'], true]);
    expect([ids(second), second.hasMore]).toEqual([['demo'], false]);
    expect(first.accounts[0]?.createdAt).toBeDefined();
  });

  test('has only the accounts with a prefix', async () => {
    const on = await open(many);

    expect(ids(await on.accounts.listAccounts({ prefix: 'ab' }))).toEqual(['ab-1', 'ab-2']);
    expect(ids(await on.accounts.listAccounts({ prefix: 'a%' }))).toEqual([]);
  });

  test('begins with the least free money by balance, holds taken off, on one page', async () => {
    const on = await open(many);
    await on.accounts.creditAccount({ id: 'demo', amountNanos: -96n * DOLLAR, reason: 'back' });
    await on.billing.placeHold(order(on, 'task_1', { seconds: 15n }));

    const { accounts, hasMore } = await on.accounts.listAccounts({ order: AccountOrder.BALANCE, limit: 2 });

    expect(accounts).toMatchObject([
      { id: 'demo', heldNanos: 120n * CENT },
      { id: 'ab-2', balanceNanos: 3n * DOLLAR },
    ]);
    expect(hasMore).toBe(true);
    await expect(on.accounts.listAccounts({ order: AccountOrder.BALANCE, after: 'b' })).rejects.toMatchObject({
      kind: 'invalid',
      field: 'after',
    });
  });

  test('is the same when it is read in small parts', async () => {
    const on = await open(many);
    for (const size of [1, 2, 4, 5]) {
      const list = sqlAccountList(on.sql, size);

      expect(ids({ accounts: await list.byId({ after: 'ab-1', prefix: '', limit: 2 }) })).toEqual(['ab-2', 'b']);
      expect(ids({ accounts: await list.byFree({ prefix: 'ab', limit: 1 }) })).toEqual(['ab-2']);
    }
  });
});

describeOnEngines('the list of credits', (open) => {
  test('has the newest first, of one account, with the reason and the actor', async () => {
    const on = await open(many);
    await on.clock.advance(1000);
    await on.accounts.creditAccount({ id: 'demo', amountNanos: -DOLLAR, reason: 'refund', actor: 'ann' });

    expect((await on.accounts.listCredits({ accountId: 'demo' })).credits).toMatchObject([
      { amountNanos: -DOLLAR, reason: 'refund', actor: 'ann' },
      { key: 'credit:initial:demo', amountNanos: 100n * DOLLAR, actor: 'billing' },
    ]);
    await expect(on.accounts.listCredits({ accountId: 'nobody' })).rejects.toMatchObject({ field: 'account_id' });
  });
});

describeOnEngines('the list of acts', (open) => {
  test('has one act for a credit that is repeated, and none for the configuration', async () => {
    const on = await open(many);
    const credit = { id: 'demo', amountNanos: DOLLAR, reason: 'invoice 7', actor: 'ann', requestId: 'r1' };

    await Promise.all([on.accounts.creditAccount(credit), on.accounts.creditAccount(credit)]);

    expect((await on.accounts.listActs({})).acts).toMatchObject([
      {
        actor: 'ann',
        action: 'account_credited',
        subject: 'demo',
        reason: 'invoice 7',
        detailJson: '{"amount":"1","currency":"USD"}',
      },
    ]);
  });

  test('comes in pages, the newest first, of every subject or of one', async () => {
    const on = await open(many);
    for (const id of ['b', 'demo', 'b'])
      await on.accounts.creditAccount({ id, amountNanos: 1n, reason: 'test', actor: 'ann' });
    const subjects = async (query: object) =>
      (await on.accounts.listActs(query)).acts.map(({ id, subject }) => ({ id, subject }));

    const [first] = await subjects({ limit: 1 });

    expect(first?.subject).toBe('b');
    expect((await subjects({ after: first!.id })).map(({ subject }) => subject)).toEqual(['demo', 'b']);
    expect(await subjects({ subject: 'b' })).toHaveLength(2);
    expect(await subjects({ subject: 'b', after: first!.id })).toHaveLength(1);
  });
});

describeOnEngines('the charges of tasks', (open) => {
  test('say what is held and what was charged, and leave out tasks without a hold and of other accounts', async () => {
    const on = await open(many);
    for (const id of ['task_1', 'task_2', 'task_3']) await on.billing.placeHold(order(on, id));
    await on.billing.settleHold({ taskId: 'task_2', totalSeconds: 6n });
    await on.billing.releaseHold({ taskId: 'task_3' });
    const taskIds = ['task_1', 'task_2', 'task_3', 'task_4'];

    const { charges } = await on.billing.listCharges({ accountId: 'demo', taskIds });

    expect(charges.sort((left, right) => (left.taskId < right.taskId ? -1 : 1))).toMatchObject([
      { taskId: 'task_1', accountId: 'demo', heldNanos: 40n * CENT, basis: Basis.UNSPECIFIED, currency: 'USD' },
      { taskId: 'task_2', heldNanos: 40n * CENT, chargedNanos: 48n * CENT, basis: Basis.USAGE },
      { taskId: 'task_3', heldNanos: 40n * CENT, chargedNanos: 0n, basis: Basis.RELEASED },
    ]);
    expect(charges[0]).not.toHaveProperty('chargedNanos');
    expect((await on.billing.listCharges({ accountId: 'b', taskIds })).charges).toEqual([]);
    expect((await on.billing.listCharges({ taskIds })).charges).toHaveLength(3);
  });

  test('say of usage far above the hold that it waits for a person, and what it costs', async () => {
    const on = await open(many);
    await on.billing.placeHold(order(on, 'task_1'));
    await on.billing.settleHold({ taskId: 'task_1', totalSeconds: 51n });

    const { charges } = await on.billing.listCharges({ taskIds: ['task_1'] });

    expect(charges).toMatchObject([{ heldNanos: 40n * CENT, basis: Basis.DEFERRED, deferredNanos: 408n * CENT }]);
    expect(charges[0]?.chargedNanos).toBeUndefined();
    await on.billing.settleHold({ taskId: 'task_1', totalSeconds: 51n, confirmed: true });
    const [charge] = (await on.billing.listCharges({ taskIds: ['task_1'] })).charges;
    expect(charge).toMatchObject({ chargedNanos: 408n * CENT, basis: Basis.USAGE });
    expect(charge?.deferredNanos).toBeUndefined();
  });
});
