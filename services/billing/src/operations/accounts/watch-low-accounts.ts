import type { TimeSource } from '@reelgate/platform/clock';
import { NOTHING_DUE } from '@reelgate/platform/lifecycle/worker';
import type { PassResult } from '@reelgate/platform/lifecycle/worker';
import type { Metrics } from '@reelgate/platform/metrics/metrics';
import { NO_ACCOUNTS } from '../../store/accounts/account-store.ts';
import type { LowAccountStore, LowCredit } from '../../store/accounts/account-store.ts';

/**
 * A credit is announced twice, this far apart. The bus of a single program loses an event that the end of the program
 * interrupts, or that comes before its reader; the second one then reaches the reader, who drops a repeat.
 */
const REPEAT_AFTER_MS = 30_000;

interface LowAccountDeps {
  readonly store: LowAccountStore;
  /** Resolves when the announcement is stored. */
  readonly announce: (low: LowCredit) => Promise<void>;
  readonly metrics: Metrics;
  readonly clock: TimeSource;
}

/**
 * Counts the accounts that have little money left, a small page at each pass. A whole sum is published, and then the
 * count rests. A pass costs the same for any number of accounts. The money is compared with the last credit instead of
 * all credits: an account that is credited every month would otherwise always seem to have little left. A low credit is
 * announced and then marked, so it is announced again after a crash between the two.
 */
export function lowAccounts({
  store,
  announce,
  metrics,
  clock,
}: LowAccountDeps): (signal?: AbortSignal) => Promise<PassResult> {
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
  return async (signal) => {
    const next = await store.countNext(count, clock.now());
    if (next.count.isWhole) sum = next.count.low;
    // The count goes on even if an announcement fails. The next count finds the account again.
    count = next.count.isWhole ? NO_ACCOUNTS : next.count;
    for (const low of next.due) {
      if (signal?.aborted === true) break;
      await announce(low);
      await store.mark(low, low.isRepeat ? undefined : clock.now() + REPEAT_AFTER_MS);
    }
    return next.count.isWhole ? NOTHING_DUE : 0;
  };
}
