import type { Bus, Subscription } from '@reelgate/platform/bus/bus';
import type { Clock } from '@reelgate/platform/clock';
import { deriveId } from '@reelgate/platform/ids';
import { BalanceLowSchema } from '@reelgate/proto/billing/v1/billing_events';
import type { BalanceLow } from '@reelgate/proto/billing/v1/billing_events';
import type { EventWriter } from '../store/webhook-store.ts';

/** The members of a group share its events. */
const GROUP = 'tasks';
const PLACES = 9;
const PLACES_MIN = 2;
const NANOS_PER_UNIT = 1_000_000_000n;

export interface BalanceLowDeps {
  readonly webhooks: EventWriter;
  readonly clock: Clock;
  /** Starts a dispatch at once. */
  readonly wake: () => void;
}

/**
 * Writes the event of an account that runs out of money. The message can come twice; the id of the event is the same.
 */
export function onBalanceLow(bus: Bus, { webhooks, clock, wake }: BalanceLowDeps): Promise<Subscription> {
  return bus.subscribe(BalanceLowSchema, GROUP, async (low) => {
    const { accountId, creditKey } = low;
    await webhooks.addEvent({
      // No account id has a zero byte, so different pairs have different ids.
      id: deriveId('evt', `${accountId}\0${creditKey}`),
      accountId,
      type: 'balance.low',
      subjectId: accountId,
      createdAt: clock.now(),
      dataJson: toDataJson(low),
    });
    wake();
  });
}

function toDataJson({ currency, availableNanos, creditNanos }: BalanceLow): string {
  return JSON.stringify({ currency, available: formatAmount(availableNanos), last_credit: formatAmount(creditNanos) });
}

/** A decimal with two places, or with more if the amount has them. */
function formatAmount(nanos: bigint): string {
  const size = nanos < 0n ? -nanos : nanos;
  const places = String(size % NANOS_PER_UNIT)
    .padStart(PLACES, '0')
    .replace(/0+$/, '')
    .padEnd(PLACES_MIN, '0');
  return `${nanos < 0n ? '-' : ''}${size / NANOS_PER_UNIT}.${places}`;
}
