import type { Account } from '@reelgate/proto/billing/v1/account_service';
import { formatNanos } from './amount.ts';

export function toAccountJson(account: Account | undefined): object {
  const { id = '', currency = '', balanceNanos = 0n, heldNanos = 0n } = account ?? {};
  return {
    id,
    currency,
    balance: formatNanos(balanceNanos),
    held: formatNanos(heldNanos),
    available: formatNanos(balanceNanos - heldNanos),
  };
}
