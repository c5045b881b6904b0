import type { Settlement } from '../../domain/hold.ts';
import { measured } from '../../billing-metrics.ts';
import type { Outcome } from '../../store/holds/hold-store.ts';
import type { BillingDeps } from '../deps.ts';

type Deps = Pick<BillingDeps, 'holds' | 'clock' | 'measures'>;

/** A hold that comes between the two looks is found by the next one, and a record never goes away. */
const LOOKS_MAX = 3;

/**
 * Gives the hold back in full, or makes sure that none can be placed. A task that was settled before keeps its
 * settlement.
 */
export async function releaseHold(deps: Deps, taskId: string): Promise<Settlement> {
  const { settlement } = await measured(
    deps.measures.release,
    () => release(deps, taskId),
    ({ outcome }) => outcome,
  );
  return settlement;
}

async function release({ holds, clock }: Deps, taskId: string): Promise<{ settlement: Settlement; outcome: string }> {
  const at = clock.now();
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    const ended = await holds.end(taskId, at, () => ({ kind: 'release' }));
    if (ended !== undefined)
      return { settlement: settlementOfEnded(ended), outcome: ended.isNew ? 'released' : 'repeated' };
    if (await holds.preclude(taskId, at))
      return { settlement: { amount: 0n, basis: 'released', at }, outcome: 'precluded' };
  }
  throw new Error(`the record of ${taskId} cannot be read`);
}

function settlementOfEnded({ record }: Outcome): Settlement {
  if (record.state === 'open') throw new Error('a release left its hold open');
  return record.settlement;
}
