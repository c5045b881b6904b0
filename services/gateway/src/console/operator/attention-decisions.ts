import type { Decision } from '../../../console/api/operator-attention.ts';
import type { OpenMoney, WaitingItem } from '../../clients/attention-client.ts';
import { moneyOf } from '../views/money.ts';

const REFUSED = {
  job: 'the call may have taken place, so it cannot be made again',
  deferred: 'the usage is still far above the hold; decide as completed or failed',
  tooLarge: 'the price of the usage is larger than the largest amount',
} as const;

/**
 * The decisions over an item and what each does to its money, as the tasks service carries them out. Without the money
 * of an item, the decisions say that their amounts are not known.
 */
export function decisionsOf(item: Pick<WaitingItem, 'isJob' | 'state'>, money: OpenMoney | undefined): Decision[] {
  const hasEnded = item.state === 'completed' || item.state === 'failed';
  if (money === undefined) {
    return [
      { resolution: 'completed', isUnpriced: true },
      { resolution: 'failed', isUnpriced: true },
      { resolution: 'retry', ...(item.isJob ? { refusedBecause: REFUSED.job } : {}) },
    ];
  }
  return [
    hasEnded ? chargedByUsage(money) : charged(money, money.heldNanos),
    released(money),
    { resolution: 'retry', ...(hasEnded && money.settled === 'deferred' ? { refusedBecause: REFUSED.deferred } : {}) },
  ];
}

/** The money of an ended task that is not deferred has ended too: a decision only takes it off the list. */
function chargedByUsage(money: OpenMoney): Decision {
  if (money.settled === 'ended') return { resolution: 'completed' };
  if (money.settled === 'not') return charged(money, money.heldNanos);
  if (money.usageNanos === undefined) return { resolution: 'completed', refusedBecause: REFUSED.tooLarge };
  return charged(money, money.usageNanos);
}

function charged({ heldNanos, currency }: OpenMoney, nanos: bigint): Decision {
  const rest = heldNanos > nanos ? heldNanos - nanos : 0n;
  return { resolution: 'completed', charge: moneyOf(nanos, currency), release: moneyOf(rest, currency) };
}

function released({ heldNanos, currency, settled }: OpenMoney): Decision {
  if (settled === 'ended') return { resolution: 'failed' };
  return { resolution: 'failed', charge: moneyOf(0n, currency), release: moneyOf(heldNanos, currency) };
}
