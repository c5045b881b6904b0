import type { Metrics } from '@reelgate/platform/metrics/metrics';
import { NO_ACCOUNTS } from '../../store/accounts/low-accounts.ts';
import type { CountLowAccounts } from '../../store/accounts/low-accounts.ts';

/**
 * Counts the accounts that have little money left in small pages, one at each pass, and shows the sum when it is whole.
 * A pass costs the same for any number of accounts. The money is compared with the last credit, not with all credits:
 * an account that is credited every month would otherwise always seem to have little left.
 */
export function lowAccounts(countNext: CountLowAccounts, metrics: Metrics): () => Promise<number> {
  let sum: number | undefined;
  metrics.gauge(
    'reelgate_accounts_low',
    'Accounts with less than a tenth of their last credit left, as last counted, over the whole database: ' +
      'aggregate with max',
    [],
    (gauge) => {
      gauge.reset();
      if (sum !== undefined) gauge.labels().set(sum);
    },
  );
  let count = NO_ACCOUNTS;
  return async () => {
    count = await countNext(count);
    if (!count.isWhole) return 0;
    sum = count.low;
    count = NO_ACCOUNTS;
    return 0;
  };
}
