import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { ActSchema } from '@reelgate/proto/access/v1/act';
import { AccountOrder } from '@reelgate/proto/billing/v1/account_service';
import type { AccountSchema } from '@reelgate/proto/billing/v1/account_service';
import type { CreditSchema } from '@reelgate/proto/billing/v1/money';
import type { Account } from '../domain/account.ts';
import type { AccountsQuery } from '../operations/accounts/list-accounts.ts';
import type { BookedCredit } from '../store/accounts/account-store.ts';
import type { StoredAct } from '../store/acts/act-store.ts';

export const ORDERS: Readonly<Record<AccountOrder, AccountsQuery['order']>> = {
  [AccountOrder.UNSPECIFIED]: 'id',
  [AccountOrder.ID]: 'id',
  [AccountOrder.BALANCE]: 'free',
};

const LIST_DEFAULT = 50;

/** The size of a page. The wire cannot tell zero from absent. */
export function readLimit(limit: number): number {
  return limit === 0 ? LIST_DEFAULT : limit;
}

export function toWireAccount(account: Account): MessageInitShape<typeof AccountSchema> {
  const { id, currency, balance, held, createdAt } = account;
  return { id, currency, balanceNanos: balance, heldNanos: held, createdAt: timestampFromMs(createdAt) };
}

export function toWireCredit({ at, amount, ...credit }: BookedCredit): MessageInitShape<typeof CreditSchema> {
  return { ...credit, at: timestampFromMs(at), amountNanos: amount };
}

export function toWireAct({ at, ...act }: StoredAct): MessageInitShape<typeof ActSchema> {
  return { ...act, at: timestampFromMs(at) };
}
