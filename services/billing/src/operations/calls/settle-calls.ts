import { decideCall } from '../../domain/call.ts';
import type { CallCharge, CallEnd } from '../../domain/call.ts';
import { NOTHING_REPORTED } from '../../domain/hold.ts';
import type { Settlement } from '../../domain/hold.ts';
import { formatAmount } from '../../domain/money.ts';
import type { EndOutcome } from '../../store/calls/call-store.ts';
import { countUpstreamCost } from '../count-upstream-cost.ts';
import type { BillingDeps } from '../deps.ts';

type Deps = Pick<BillingDeps, 'calls' | 'clock' | 'newId' | 'measures' | 'upstreamPrices' | 'log' | 'overrunFactor'>;

/**
 * Ends the calls in one transaction. Gives the settlement of each: the first one if the call had ended, undefined if it
 * was never placed.
 */
export async function settleCalls(
  deps: Deps,
  ends: ReadonlyMap<string, CallEnd>,
): Promise<ReadonlyMap<string, Settlement | undefined>> {
  const at = deps.clock.now();
  const outcomes = await deps.calls.end({
    batchId: deps.newId('batch'),
    at,
    ends,
    decide: (call, terms, end) => decideCall(call, terms, end, deps.overrunFactor),
  });
  return new Map(
    [...outcomes].map(([id, outcome]) => {
      const end = ends.get(id);
      recordOutcome(deps, id, { ...outcome, channel: end?.channel });
      return [id, outcome.record?.settlement ?? unplaced(end, at)];
    }),
  );
}

/** The release of an unknown call prevents its placement, so it counts as a settlement. */
function unplaced(end: CallEnd | undefined, at: number): Settlement | undefined {
  return end?.basis === 'released' ? { amount: 0n, basis: 'released', at } : undefined;
}

interface ToldOutcome extends EndOutcome {
  /** The channel that did the work. */
  readonly channel: string | undefined;
}

function recordOutcome(deps: Deps, callId: string, { record, charge, channel }: ToldOutcome): void {
  const { measures, log } = deps;
  measures.callEnd(charge?.basis ?? (record === undefined ? 'absent' : 'repeated'));
  if (charge !== undefined && record !== undefined && charge.basis !== 'released') {
    const { facts, currency } = record.call;
    measures.charged({ priceKey: facts.priceKey, currency, basis: charge.basis, amount: charge.amount });
    countUpstreamCost(deps, { channel, currency, facts, usage: charge.usage ?? NOTHING_REPORTED });
  }
  if (charge !== undefined && isOverrun(charge)) {
    measures.callOverrun();
    log.warn(
      { callId, basis: charge.basis, charged: formatAmount(charge.amount), uncharged: formatAmount(charge.uncharged) },
      'the usage of a call is far above its hold; a part of it was not charged',
    );
  }
}

/** An estimate above the hold is no overrun. */
function isOverrun({ basis, uncharged }: CallCharge): boolean {
  return basis === 'usage' && uncharged > 0n;
}
