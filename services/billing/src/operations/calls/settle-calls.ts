import { decideCall } from '../../domain/call.ts';
import type { Call, CallEnd, CostedCharge } from '../../domain/call.ts';
import { NOTHING_REPORTED } from '../../domain/hold.ts';
import type { Settlement } from '../../domain/hold.ts';
import { formatAmount } from '../../domain/money.ts';
import type { PriceTerms } from '../../domain/price-terms.ts';
import type { EndOutcome, LapsedCall } from '../../store/calls/call-store.ts';
import { countUpstreamCost, estimateUpstreamCost } from '../count-upstream-cost.ts';
import type { BillingDeps } from '../deps.ts';

const LAPSES_MAX = 500;

/**
 * Ends the calls in one transaction. Returns the settlement of each call: the first settlement if the call had ended,
 * undefined if it was never placed.
 */
export async function settleCalls(
  deps: BillingDeps,
  ends: ReadonlyMap<string, CallEnd>,
): Promise<ReadonlyMap<string, Settlement | undefined>> {
  const at = deps.clock.now();
  const outcomes = await deps.calls.end({
    batchId: deps.newId('batch'),
    at,
    ends,
    decide: (call, terms, end) => decideCostedCall(deps, { call, terms, end }),
  });
  return new Map(
    [...outcomes].map(([id, outcome]) => {
      const end = ends.get(id);
      recordOutcome(deps, id, { ...outcome, channel: end?.channel });
      return [id, outcome.record?.settlement ?? toUnknownCallSettlement(end, at)];
    }),
  );
}

interface CallEnding {
  readonly call: Call;
  readonly terms: PriceTerms;
  readonly end: CallEnd;
}

/** The charge of a call, and the cost of the call at its upstream. */
function decideCostedCall(deps: BillingDeps, { call, terms, end }: CallEnding): CostedCharge {
  const charge = decideCall(call, terms, end, deps.overrunFactor);
  if (charge.basis === 'released') return charge;
  const { usage = NOTHING_REPORTED } = charge;
  const amount = estimateUpstreamCost(deps, { channel: end.channel, facts: call.facts, usage });
  return { ...charge, cost: amount === undefined ? undefined : { amount, source: 'estimated' } };
}

/** The release of an unknown call prevents its placement, so it counts as a settlement. */
function toUnknownCallSettlement(end: CallEnd | undefined, at: number): Settlement | undefined {
  return end?.basis === 'released' ? { amount: 0n, basis: 'released', at } : undefined;
}

interface OutcomeWithChannel extends EndOutcome {
  /** The channel that did the work. */
  readonly channel: string | undefined;
}

function recordOutcome(deps: BillingDeps, callId: string, { record, charge, channel }: OutcomeWithChannel): void {
  const { measures, log } = deps;
  measures.callEnd(charge?.basis ?? (record === undefined ? 'absent' : 'repeated'));
  if (charge !== undefined && record !== undefined && charge.basis !== 'released') {
    countCharge(deps, record.call, charge, channel);
  }
  if (charge !== undefined && isOverrun(charge)) {
    measures.callOverrun();
    log.warn(
      { callId, basis: charge.basis, charged: formatAmount(charge.amount), uncharged: formatAmount(charge.uncharged) },
      'the usage of a call is far above its hold; a part of it was not charged',
    );
  }
}

function countCharge(
  deps: BillingDeps,
  { facts, currency, amount: held }: Call,
  { amount: charged, basis, uncharged, cost }: CostedCharge,
  channel: string | undefined,
): void {
  const { priceKey } = facts;
  deps.measures.charged({ priceKey, currency, basis, amount: charged });
  countUpstreamCost(deps, { channel, currency, facts, charged, cost });
  const above = charged + uncharged - held;
  if (basis === 'usage' && above > 0n) deps.moneyCounts.overrun({ channel: channel ?? '', priceKey, currency }, above);
}

/** An estimate above the hold is no overrun. */
function isOverrun({ basis, uncharged }: CostedCharge): boolean {
  return basis === 'usage' && uncharged > 0n;
}

/**
 * Charges lapsed calls their holds, and releases the calls of an unconfirmed batch, because no client has seen an
 * answer to them. Returns the number of calls.
 */
export async function lapseCalls(deps: BillingDeps): Promise<number> {
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

function recordLapses({ measures, moneyCounts, log }: BillingDeps, lapsed: readonly LapsedCall[]): void {
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
