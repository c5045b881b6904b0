import { inSpan } from '@reelgate/platform/trace/trace';
import type { Span } from '@reelgate/platform/trace/trace';
import { runAndCount } from '../../billing-metrics.ts';
import { amountOutOfBounds, unknownHold } from '../../billing-refusals.ts';
import { readSettlement } from '../../domain/hold.ts';
import type { Hold, HoldRecord, ReportedUsage, Settlement } from '../../domain/hold.ts';
import { formatAmount } from '../../domain/money.ts';
import type { Nanos } from '../../domain/money.ts';
import type { PriceTerms } from '../../domain/price-terms.ts';
import { decideSettlement } from '../../domain/settlement.ts';
import type { CostedDecision } from '../../domain/settlement.ts';
import { selectCost } from '../../domain/margin.ts';
import type { Outcome } from '../../store/holds/hold-store.ts';
import { countUpstreamCost, estimateUpstreamCost } from '../count-upstream-cost.ts';
import type { BillingDeps } from '../deps.ts';

/** A hold that is placed between the two statements is found by the next attempt. A record is never removed. */
const ATTEMPTS_MAX = 3;

export interface SettleRequest {
  readonly taskId: string;
  readonly usage: ReportedUsage;
  /** An operator has confirmed the charge: it has no bound. */
  readonly confirmed: boolean;
  /**
   * True if an earlier call has probably settled the hold: each task is settled by its event, and confirmed by a
   * call.
   */
  readonly mayRepeat: boolean;
  /** The channel that did the work, undefined if no channel did it. */
  readonly channel: string | undefined;
  /** The charge that the upstream reported, in millionths of a US dollar. Undefined if it did not report a charge. */
  readonly upstreamCostMicroUsd: bigint | undefined;
}

/**
 * Charges a finished task once. Later calls get the first settlement. Usage far above the hold waits for an operator.
 */
export async function settleHold(
  deps: BillingDeps,
  { taskId, usage, confirmed, mayRepeat, channel, upstreamCostMicroUsd }: SettleRequest,
): Promise<Settlement> {
  const { holds, clock, measures, log, overrunFactor } = deps;
  const decide = (hold: Hold, terms: PriceTerms): CostedDecision => {
    const ending = decideSettlement(hold, terms, usage, { overrunFactor, confirmed });
    if (ending.kind !== 'defer') {
      const estimated = estimateUpstreamCost(deps, { channel, facts: hold.facts, usage });
      return { ...ending, cost: { reportedMicroUsd: upstreamCostMicroUsd, estimated } };
    }
    // an amount beyond the largest one cannot be confirmed
    if (confirmed) throw amountOutOfBounds();
    return ending;
  };
  const { record, isNew } = await runAndCount(
    measures.settlement,
    async () => {
      const outcome = await holds.end(taskId, clock.now(), decide, mayRepeat);
      if (outcome === undefined) throw unknownHold();
      return outcome;
    },
    describeOutcome,
  );
  const settlement = readSettlement(record);
  if (settlement === undefined) throw new Error(`settling ${taskId} left its hold open`);
  if (record.state === 'open') warnOfDeferral(deps, record);
  if (isNew && record.state === 'ended') {
    countCharge(measures, record.hold, settlement);
    const cost = selectCost(record.hold.currency, record.cost);
    countUpstreamCost(deps, { ...record.hold, channel, cost, charged: settlement.amount });
    countOverrun(deps, record.hold, { channel, charged: settlement.amount });
  }
  if (isNew)
    log.info({ taskId, basis: settlement.basis, amount: formatAmount(settlement.amount) }, 'a hold was settled');
  return settlement;
}

function warnOfDeferral(
  { log, overrunFactor }: BillingDeps,
  { hold, deferral }: Extract<HoldRecord, { state: 'open' }>,
): void {
  const usageAmount = deferral?.wanted === undefined ? 'out of bounds' : formatAmount(deferral.wanted);
  log.warn(
    { taskId: hold.taskId, usageAmount, heldAmount: formatAmount(hold.amount), overrunFactor },
    'the usage is far above the hold; an operator has to decide',
  );
}

function countCharge(
  measures: BillingDeps['measures'],
  { facts, currency }: Hold,
  { basis, amount }: Settlement,
): void {
  measures.charged({ priceKey: facts.priceKey, currency, basis, amount });
}

function countOverrun(
  { moneyCounts }: BillingDeps,
  { amount: held, currency, facts }: Hold,
  { channel = '', charged }: { readonly channel: string | undefined; readonly charged: Nanos },
): void {
  if (charged > held) moneyCounts.overrun({ channel, priceKey: facts.priceKey, currency }, charged - held);
}

function describeOutcome({ record, isNew }: Outcome): string {
  return isNew ? (readSettlement(record)?.basis ?? 'none') : 'repeated';
}

/** Ends a hold in a span that records the charge. No other span holds an amount. */
export function inSettleSpan(parent: Span, endHold: () => Promise<Settlement>): Promise<Settlement> {
  return inSpan(parent, 'settle', {}, async (span) => {
    const settlement = await endHold();
    const { amount, basis } = settlement;
    span.set({ 'reelgate.settlement.basis': basis, 'reelgate.settlement.amount': formatAmount(amount) });
    return settlement;
  });
}

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
