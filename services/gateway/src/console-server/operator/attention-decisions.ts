import type { Decision } from '../../../console/api/operator-attention.ts';
import type { ItemState, OpenMoney } from '../../clients/attention-client.ts';
import { toMoney } from '../views/money-view.ts';

/** The most entries of the queue that a list has, and that the number beside its name counts. */
export const ITEMS_MAX = 200;

const REFUSED = {
  job: 'the call may have taken place, so it cannot be made again',
  deferred: 'the usage is still far above the hold; decide as completed or failed',
  tooLarge: 'the price of the usage is larger than the largest amount',
  charged: 'the work was charged already; decide as completed',
  released: 'the hold was released already; decide as failed',
} as const;

/**
 * The decisions over an item and what each does to its money, as the tasks service carries them out. Without the money
 * of an item, the decisions say that their amounts are not known.
 */
export function listDecisions(item: ItemState, money: OpenMoney | undefined): Decision[] {
  const retry = planRetry(item, money);
  if (money === undefined)
    return [{ resolution: 'completed', isUnpriced: true }, { resolution: 'failed', isUnpriced: true }, retry];
  return [planCompleted(money), toReleaseDecision(money), retry];
}

function planRetry({ isJob, state }: ItemState, money: OpenMoney | undefined): Decision {
  if (isJob) return { resolution: 'retry', refusedBecause: REFUSED.job };
  const isDeferred = (state === 'completed' || state === 'failed') && money?.settled === 'deferred';
  return { resolution: 'retry', ...(isDeferred ? { refusedBecause: REFUSED.deferred } : {}) };
}

/** Money that has moved already does not move again: then a decision only takes the entry off the list. */
function planCompleted(money: OpenMoney): Decision {
  if (money.settled === 'charged') return { resolution: 'completed' };
  if (money.settled === 'released') return { resolution: 'completed', refusedBecause: REFUSED.released };
  if (money.settled === 'not') return toChargeDecision(money, money.heldNanos);
  if (money.usageNanos === undefined) return { resolution: 'completed', refusedBecause: REFUSED.tooLarge };
  return toChargeDecision(money, money.usageNanos);
}

function toChargeDecision({ heldNanos, currency }: OpenMoney, nanos: bigint): Decision {
  const rest = heldNanos > nanos ? heldNanos - nanos : 0n;
  return { resolution: 'completed', charge: toMoney(nanos, currency), release: toMoney(rest, currency) };
}

function toReleaseDecision({ heldNanos, currency, settled }: OpenMoney): Decision {
  if (settled === 'released') return { resolution: 'failed' };
  if (settled === 'charged') return { resolution: 'failed', refusedBecause: REFUSED.charged };
  return { resolution: 'failed', charge: toMoney(0n, currency), release: toMoney(heldNanos, currency) };
}
