import { expect, test } from '@jest/globals';
import type { SqlQuery } from '@reelgate/platform/sql/sql';
import { DOLLAR, books } from '../../../testing/books.ts';
import { describeOnEngines } from '../../../testing/describe-on-engines.ts';
import type { TestBilling } from '../../../testing/open-billing.ts';
import { changeAccount, changeToken, tryReserveOfAccount, tryReserveOfToken } from './sql-balances.ts';

const LIMIT = 100n;
const CREDIT = 100n * DOLLAR;

/** A token of the account `demo` with a limit, and a transaction of the test. */
async function openLimited(on: TestBilling) {
  const { token } = await on.accounts.createToken({ accountId: 'demo', models: ['*'], limitNanos: LIMIT });
  const owner = { tokenId: token?.id ?? '', accountId: 'demo' };
  return { owner, within: <T>(work: (query: SqlQuery) => Promise<T>): Promise<T> => on.sql.transaction(work) };
}

describeOnEngines('a reservation', (open) => {
  test.each<[string, bigint, bigint | undefined]>([
    ['less than the limit of its token leaves, leaves the rest', 39n, 1n],
    ['as much as the limit leaves, leaves nothing', 40n, 0n],
    ['more than the limit leaves, is refused', 41n, undefined],
  ])('of %s', async (_what, amount, left) => {
    const { owner, within } = await openLimited(await open());
    await within((query) => tryReserveOfToken(query, owner, 60n));

    const reserved = await within((query) => tryReserveOfToken(query, owner, amount));

    expect(reserved && BigInt(reserved.left_nanos ?? -1)).toBe(left);
    // what was refused has reserved nothing
    const rest = await within((query) => tryReserveOfToken(query, owner, 0n));
    expect(BigInt(rest?.left_nanos ?? -1)).toBe(left ?? 40n);
  });

  test('of a token is refused under another account', async () => {
    const { owner, within } = await openLimited(await open());

    expect(await within((query) => tryReserveOfToken(query, { ...owner, accountId: 'other' }, 1n))).toBeUndefined();
  });

  test('of a token without a limit has no bound', async () => {
    const on = await open();
    const { within } = await openLimited(on);
    const owner = { tokenId: on.tokenId, accountId: 'demo' };

    const reserved = await within((query) => tryReserveOfToken(query, owner, 2n * CREDIT));

    expect(reserved).toMatchObject({ left_nanos: null });
    expect(await books(on)).toMatchObject({ used: 2n * CREDIT });
  });

  test.each<[string, bigint, bigint | undefined]>([
    ['less than the account has, leaves the rest', CREDIT - 61n, 1n],
    ['all that the account has, leaves nothing', CREDIT - 60n, 0n],
    ['more than the account has, is refused', CREDIT - 59n, undefined],
  ])('of %s', async (_what, amount, left) => {
    const on = await open();
    const { within } = await openLimited(on);
    await within((query) => tryReserveOfAccount(query, 'demo', 60n));

    expect(await within((query) => tryReserveOfAccount(query, 'demo', amount))).toBe(left);

    expect(await books(on)).toMatchObject({ balance: CREDIT, held: left === undefined ? 60n : 60n + amount });
  });

  test('is taken back from the token and the account, and a charge from the balance', async () => {
    const on = await open();
    const { within } = await openLimited(on);
    await within((query) => tryReserveOfAccount(query, 'demo', 60n));

    await within(async (query) => {
      await changeToken(query, on.tokenId, 45n);
      await changeAccount(query, 'demo', { balance: -45n, held: -60n });
    });

    expect(await books(on)).toEqual({ balance: CREDIT - 45n, held: 0n, used: 45n });
  });
});
