import { withTimeout } from '@reelgate/platform/clock';
import type { BatchLease } from '../../store/batch-store.ts';
import type { BatchDeps } from './batch-deps.ts';

/** The lines that billing is asked about with one call. */
const CHARGES_MAX = 100;
/** The calls of one pass. */
const CALLS_MAX = 10;
const DEADLINE_MS = 2000;

/**
 * Adds the charges of ended lines of a batch to its sum, each once, as soon as their money is settled. Without an
 * answer of billing the next pass counts them. A line that waits for a person holds no other line up.
 */
export async function countCharges(
  { batches, charges, clock, limits, log }: BatchDeps,
  lease: BatchLease,
  phase: 'running' | 'writing',
): Promise<void> {
  let after = 0;
  for (let calls = 0; calls < CALLS_MAX; calls += 1) {
    const open = await batches.listUncharged(lease.batchId, after, CHARGES_MAX);
    if (open.length === 0) return;
    after = open.at(-1)?.number ?? after;
    const ids = open.map(({ workId }) => workId);
    const found = await withTimeout(clock, { ms: DEADLINE_MS }, (signal) =>
      charges.listFinalCharges(ids, { signal }),
    ).catch((error: unknown) => {
      log.warn({ batchId: lease.batchId, err: error }, 'billing did not say what lines of a batch were charged');
      return undefined;
    });
    if (found === undefined) return;
    const [first] = found.values();
    if (first === undefined) continue;
    const lines = open.flatMap(({ number, workId }) => {
      const charge = found.get(workId);
      return charge === undefined ? [] : [{ number, nanos: charge.nanos }];
    });
    const isHeld = await batches.addCharges(
      lease,
      phase,
      { lines, currency: first.currency },
      clock.now() + limits.leaseMs,
    );
    if (!isHeld) return;
  }
}
