import { settleCalls } from './settle-calls.ts';
import type { BillingDeps } from '../deps.ts';

const LAPSES_MAX = 500;

/** One pass: charges lapsed calls their holds. Gives the number of calls. */
export async function lapseCalls(
  deps: Pick<BillingDeps, 'calls' | 'clock' | 'newId' | 'measures' | 'log' | 'overrunFactor'>,
): Promise<number> {
  const ids = await deps.calls.lapsed(deps.clock.now(), LAPSES_MAX);
  if (ids.length === 0) return 0;
  await settleCalls(deps, new Map(ids.map((id) => [id, { basis: 'hold' }])));
  deps.measures.callLapse(ids.length);
  deps.log.warn({ calls: ids.length, first: ids[0] }, 'calls lapsed and were charged their holds');
  return ids.length;
}
