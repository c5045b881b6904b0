import { runAndCount } from '../../billing-metrics.ts';
import type { HoldRecord, Settlement } from '../../domain/hold.ts';
import { selectCost } from '../../domain/upstream-cost.ts';
import type { Outcome } from '../../store/holds/hold-store.ts';
import { countUpstreamCost } from '../count-upstream-cost.ts';
import type { BillingDeps } from '../deps.ts';

/** A hold that is placed between the two statements is found by the next attempt. A record is never removed. */
const ATTEMPTS_MAX = 3;

export interface ReleaseRequest {
  readonly taskId: string;
  /** The channel that did the work, undefined if no channel did it. */
  readonly channel: string | undefined;
  /** The charge that the upstream reported, in millionths of a US dollar. Undefined if it did not report a charge. */
  readonly upstreamCostMicroUsd: bigint | undefined;
}

/**
 * Releases the hold, or writes a void so that no hold can be placed. A settled task keeps its settlement. A charge of
 * the upstream for the failed work is kept with the hold.
 */
export async function releaseHold(deps: BillingDeps, request: ReleaseRequest): Promise<Settlement> {
  const { taskId } = request;
  const { settlement, outcome } = await runAndCount(
    deps.measures.release,
    () => release(deps, request),
    (released) => released.outcome,
  );
  if (outcome === 'released') deps.log.info({ taskId }, 'a hold was released');
  return settlement;
}

async function release(
  deps: BillingDeps,
  { taskId, channel, upstreamCostMicroUsd }: ReleaseRequest,
): Promise<{ settlement: Settlement; outcome: string }> {
  const { holds, clock } = deps;
  const at = clock.now();
  const cost = { reportedMicroUsd: upstreamCostMicroUsd, estimated: undefined };
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const ended = await holds.end(taskId, at, () => ({ kind: 'release', cost }), true);
    if (ended !== undefined) {
      const settlement = requireSettlement(ended);
      if (ended.isNew && ended.record.state === 'ended') countFailedWork(deps, channel, ended.record);
      return { settlement, outcome: ended.isNew ? 'released' : 'repeated' };
    }
    if (await holds.preclude(taskId, at))
      return { settlement: { amount: 0n, basis: 'released', at }, outcome: 'precluded' };
  }
  throw new Error(`the hold record of ${taskId} cannot be read`);
}

function countFailedWork(
  deps: BillingDeps,
  channel: string | undefined,
  { hold, cost }: Extract<HoldRecord, { state: 'ended' }>,
): void {
  countUpstreamCost(deps, { ...hold, channel, cost: selectCost(hold.currency, cost), charged: undefined });
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
