import type { Clock } from '@reelgate/platform/clock';
import { NOTHING_DUE } from '@reelgate/platform/lifecycle/worker';
import type { PassResult } from '@reelgate/platform/lifecycle/worker';
import type { Metrics } from '@reelgate/platform/metrics/metrics';
import { NO_RESULTS } from '../../store/media-store.ts';
import type { CountResults, ResultCount } from '../../store/media-store.ts';

const SOON_MS = 24 * 3_600_000;

/**
 * Counts the bytes of the results in small pages, one at each pass. When the sums are whole, it shows them and rests. A
 * pass costs the same for a store of any size.
 */
export function newResultCounter(
  countNext: CountResults,
  { metrics, clock }: { readonly metrics: Metrics; readonly clock: Clock },
): () => Promise<PassResult> {
  let counted: ResultCount | undefined;
  const show = (name: string, what: string, bytesOf: (count: ResultCount) => number): void => {
    metrics.gauge(name, `${what}, as last counted, over the whole database: aggregate with max`, [], (gauge) => {
      gauge.reset();
      if (counted !== undefined) gauge.labels().set(bytesOf(counted));
    });
  };
  show('reelgate_results_bytes', 'Bytes of the results that are kept', ({ bytes }) => bytes);
  show(
    'reelgate_results_expiring_bytes',
    'Bytes of the kept results that expire within a day',
    ({ expiring }) => expiring,
  );
  let count = NO_RESULTS;
  return async () => {
    count = await countNext(count, clock.now() + SOON_MS);
    if (!count.isWhole) return 0;
    counted = count;
    count = NO_RESULTS;
    return NOTHING_DUE;
  };
}
