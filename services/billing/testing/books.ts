import { expect } from '@jest/globals';
import type { TestBilling } from './open-billing.ts';

export const CENT = 10_000_000n;
export const DOLLAR = 100n * CENT;

/** The sums of the account `demo` and of its first token. */
export async function books({ accounts }: TestBilling): Promise<{ balance: bigint; held: bigint; used: bigint }> {
  const { account } = await accounts.getAccount({ id: 'demo' });
  const { tokens } = await accounts.listTokens({ accountId: 'demo' });
  return { balance: account!.balanceNanos, held: account!.heldNanos, used: tokens[0]!.usedNanos };
}

export async function expectSound({ accounts }: TestBilling): Promise<void> {
  expect(await accounts.verifyLedger({})).toMatchObject({ ok: true, faults: [] });
}
