import { ACT_PREFIX, amountDetail } from '../../domain/act.ts';
import type { Account } from '../../domain/account.ts';
import { creditKey } from '../../domain/ledger.ts';
import type { Nanos } from '../../domain/money.ts';
import { requestIdReused } from '../../billing-refusals.ts';
import type { BillingDeps } from '../deps.ts';
import { findAccount } from './read-accounts.ts';

export interface CreditRequest {
  readonly accountId: string;
  /** A negative amount takes money back, even below zero: a reversed payment is gone. */
  readonly amount: Nanos;
  readonly reason: string;
  readonly actor: string;
  /** Identifies the call, so that a repeat has no effect. Without it, each call counts. */
  readonly requestId: string | undefined;
}

/** Adds money to an account, with a reason and the name of the operator. */
export async function creditAccount(deps: BillingDeps, request: CreditRequest, signal?: AbortSignal): Promise<Account> {
  const { accountId, amount, reason, actor, requestId } = request;
  const { currency } = await findAccount(deps, accountId, 'id');
  const key = creditKey(accountId, requestId ?? deps.newId('credit'));
  const at = deps.clock.now();
  const written = await deps.accounts.credit(
    { key, accountId, currency, amount, reason, actor, at },
    {
      id: deps.newId(ACT_PREFIX),
      at,
      actor,
      action: 'account_credited',
      subject: accountId,
      reason,
      detail: { amount: amountDetail(amount), currency },
    },
    signal,
  );
  if (written.amount !== amount) throw requestIdReused();
  return written.account;
}
