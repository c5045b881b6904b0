import { runAndCount } from '../../billing-metrics.ts';
import type { Settlement } from '../../domain/hold.ts';
import type { Outcome } from '../../store/holds/hold-store.ts';
import type { BillingDeps } from '../deps.ts';

/** A hold that is placed between the two statements is found by the next attempt. A record is never removed. */
const ATTEMPTS_MAX = 3;

/** Releases the hold, or writes a void so that none can be placed. A settled task keeps its settlement. */
export async function releaseHold(deps: BillingDeps, taskId: string): Promise<Settlement> {
  const { settlement, outcome } = await runAndCount(
    deps.measures.release,
    () => release(deps, taskId),
    (released) => released.outcome,
  );
  if (outcome === 'released') deps.log.info({ taskId }, 'a hold was released');
  return settlement;
}

async function release(
  { holds, clock }: BillingDeps,
  taskId: string,
): Promise<{ settlement: Settlement; outcome: string }> {
  const at = clock.now();
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const ended = await holds.end(taskId, at, () => ({ kind: 'release' }), true);
    if (ended !== undefined)
      return { settlement: requireSettlement(ended), outcome: ended.isNew ? 'released' : 'repeated' };
    if (await holds.preclude(taskId, at))
      return { settlement: { amount: 0n, basis: 'released', at }, outcome: 'precluded' };
  }
  throw new Error(`the hold record of ${taskId} cannot be read`);
}

function requireSettlement({ record }: Outcome): Settlement {
  if (record.state === 'open') throw new Error('a release left its hold open');
  return record.settlement;
}

/** Writes a void if the task has no record. Returns whether it has a void now: then no hold was or can be placed. */
export async function precludeHold({ holds, clock }: BillingDeps, taskId: string): Promise<boolean> {
  if (await holds.preclude(taskId, clock.now())) return true;
  return (await holds.find(taskId))?.state === 'void';
}
