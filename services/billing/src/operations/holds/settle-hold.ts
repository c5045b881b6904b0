import type { Hold, Settlement, ReportedUsage } from '../../domain/hold.ts';
import { formatAmount } from '../../domain/money.ts';
import type { PriceTerms } from '../../domain/price-terms.ts';
import { decideSettlement } from '../../domain/settlement.ts';
import type { Ending } from '../../domain/settlement.ts';
import { measured } from '../../billing-metrics.ts';
import { amountOutOfBounds, unknownHold } from '../../billing-refusals.ts';
import type { Outcome } from '../../store/holds/hold-store.ts';
import type { BillingDeps } from '../deps.ts';
import { settlementOf } from './settlement-of.ts';

export interface SettleRequest {
  readonly taskId: string;
  readonly usage: ReportedUsage;
  /** An operator has confirmed the charge: it has no bound. */
  readonly confirmed: boolean;
}

type Deps = Pick<BillingDeps, 'holds' | 'clock' | 'measures' | 'log' | 'overrunFactor'>;

/**
 * Charges a finished task once. Later calls get the first settlement. Usage far above the hold waits for an operator.
 */
export async function settleHold(
  { holds, clock, measures, log, overrunFactor }: Deps,
  { taskId, usage, confirmed }: SettleRequest,
): Promise<Settlement> {
  const decide = (hold: Hold, terms: PriceTerms): Ending => {
    const ending = decideSettlement(hold, terms, usage, { overrunFactor, confirmed });
    if (ending.kind !== 'defer') return ending;
    // an amount beyond the largest one cannot be confirmed
    if (confirmed) throw amountOutOfBounds();
    const usageAmount = ending.amount === undefined ? 'out of bounds' : formatAmount(ending.amount);
    log.warn(
      { taskId, usageAmount, heldAmount: formatAmount(hold.amount), overrunFactor },
      'the usage is far above the hold; an operator has to decide',
    );
    return ending;
  };
  const { record } = await measured(
    measures.settlement,
    async () => {
      const outcome = await holds.end(taskId, clock.now(), decide);
      if (outcome === undefined) throw unknownHold();
      return outcome;
    },
    outcomeOf,
  );
  const settlement = settlementOf(record);
  if (settlement === undefined) throw new Error(`settling ${taskId} left its hold open`);
  return settlement;
}

function outcomeOf({ record, isNew }: Outcome): string {
  return isNew ? (settlementOf(record)?.basis ?? 'none') : 'repeated';
}
