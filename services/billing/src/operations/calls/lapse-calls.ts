import { settleCalls } from './settle-calls.ts';
import type { BillingDeps } from '../deps.ts';
import type { LapsedCall } from '../../store/calls/call-store.ts';

const LAPSES_MAX = 500;

/**
 * One pass: charges lapsed calls their holds, and releases those of an unconfirmed batch, because no client has seen an
 * answer to them. Gives the number of calls.
 */
export async function lapseCalls(
  deps: Pick<
    BillingDeps,
    'calls' | 'clock' | 'newId' | 'measures' | 'moneyCounts' | 'upstreamPrices' | 'log' | 'overrunFactor'
  >,
): Promise<number> {
  const now = deps.clock.now();
  const lapsed = await deps.calls.lapsed(now, LAPSES_MAX);
  if (lapsed.length > 0) {
    await settleCalls(
      deps,
      new Map(lapsed.map(({ id, isConfirmed }) => [id, { basis: isConfirmed ? 'hold' : 'released' }])),
    );
    recordLapses(deps, lapsed);
  }
  // a full pass may have left calls of these batches
  if (lapsed.length < LAPSES_MAX) await deps.calls.removeLapsedBatches(now);
  return lapsed.length;
}

function recordLapses(
  { measures, moneyCounts, log }: Pick<BillingDeps, 'measures' | 'moneyCounts' | 'log'>,
  lapsed: readonly LapsedCall[],
): void {
  const charged = lapsed.filter(({ isConfirmed }) => isConfirmed);
  const released = lapsed.filter(({ isConfirmed }) => !isConfirmed);
  if (charged.length > 0) {
    measures.callLapse(charged.length);
    moneyCounts.lapses(charged.length);
    log.warn({ calls: charged.length, first: charged[0]?.id }, 'calls lapsed and were charged their holds');
  }
  if (released.length > 0)
    log.warn({ calls: released.length, first: released[0]?.id }, 'calls lapsed unconfirmed and were released');
}
