import { inSpan } from '@reelgate/platform/trace/in-span';
import type { Span } from '@reelgate/platform/trace/trace';
import type { Settlement } from '../../domain/hold.ts';
import { formatAmount } from '../../domain/money.ts';

/** Ends a hold in a span that says what was charged. No other span holds an amount. */
export function inSettleSpan(parent: Span, endHold: () => Promise<Settlement>): Promise<Settlement> {
  return inSpan(parent, 'settle', {}, async (span) => {
    const settlement = await endHold();
    const { amount, basis } = settlement;
    span.set({ 'reelgate.settlement.basis': basis, 'reelgate.settlement.amount': formatAmount(amount) });
    return settlement;
  });
}
