import type { Account } from '../../domain/account.ts';
import { creditKey } from '../../domain/ledger.ts';
import { AMOUNT_NANOS_MAX } from '../../domain/money.ts';
import type { Nanos } from '../../domain/money.ts';
import { badField, reusedRequestId } from '../../billing-refusals.ts';
import type { BillingDeps } from '../deps.ts';
import { findAccount } from './find-account.ts';

export interface CreditRequest {
  readonly accountId: string;
  /** Negative takes money back, below zero too: a payment that was taken back is gone. */
  readonly amount: Nanos;
  readonly reason: string;
  readonly actor: string;
  /** Names the call; undefined: each call counts. */
  readonly requestId: string | undefined;
}

/** Adds money to an account, for a reason, in somebody's name. */
export async function creditAccount(
  deps: Pick<BillingDeps, 'accounts' | 'clock' | 'newId'>,
  request: CreditRequest,
  signal?: AbortSignal,
): Promise<Account> {
  const { accountId, amount, reason, actor, requestId } = request;
  if (reason.trim() === '') throw badField('reason', 'must say why, for the books');
  if (amount > AMOUNT_NANOS_MAX || amount < -AMOUNT_NANOS_MAX)
    throw badField('amount_nanos', `must be from -${AMOUNT_NANOS_MAX} to ${AMOUNT_NANOS_MAX}`);
  const { currency } = await findAccount(deps, accountId, 'id');
  const key = creditKey(accountId, requestId ?? deps.newId('credit'));
  const written = await deps.accounts.credit(
    { key, accountId, currency, amount, reason, actor, at: deps.clock.now() },
    signal,
  );
  if (written.amount !== amount) throw reusedRequestId();
  return written.account;
}
