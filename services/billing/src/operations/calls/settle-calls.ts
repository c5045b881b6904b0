import { decideCall } from '../../domain/call.ts';
import type { Call, CallCharge, CallEnd } from '../../domain/call.ts';
import { NOTHING_REPORTED } from '../../domain/hold.ts';
import type { Settlement } from '../../domain/hold.ts';
import { formatAmount } from '../../domain/money.ts';
import type { EndOutcome } from '../../store/calls/call-store.ts';
import { countUpstreamCost } from '../count-upstream-cost.ts';
import type { BillingDeps } from '../deps.ts';

type Deps = Pick<
  BillingDeps,
  'calls' | 'clock' | 'newId' | 'measures' | 'moneyCounts' | 'upstreamPrices' | 'log' | 'overrunFactor'
>;

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
      return [id, outcome.record?.settlement ?? toUnknownCallSettlement(end, at)];
    }),
  );
}

/** The release of an unknown call prevents its placement, so it counts as a settlement. */
function toUnknownCallSettlement(end: CallEnd | undefined, at: number): Settlement | undefined {
  return end?.basis === 'released' ? { amount: 0n, basis: 'released', at } : undefined;
}

interface OutcomeWithChannel extends EndOutcome {
  /** The channel that did the work. */
  readonly channel: string | undefined;
}

function recordOutcome(deps: Deps, callId: string, { record, charge, channel }: OutcomeWithChannel): void {
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
  deps: Deps,
  { facts, currency, amount: held }: Call,
  { amount: charged, basis, uncharged, usage = NOTHING_REPORTED }: CallCharge,
  channel: string | undefined,
): void {
  const { priceKey } = facts;
  deps.measures.charged({ priceKey, currency, basis, amount: charged });
  countUpstreamCost(deps, { channel, currency, facts, usage, charged });
  const above = charged + uncharged - held;
  if (basis === 'usage' && above > 0n) deps.moneyCounts.overrun({ channel: channel ?? '', priceKey, currency }, above);
}

/** An estimate above the hold is no overrun. */
function isOverrun({ basis, uncharged }: CallCharge): boolean {
  return basis === 'usage' && uncharged > 0n;
}
