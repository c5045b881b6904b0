import { createHash } from 'node:crypto';
import type { EventPublisher } from '@reelgate/platform/bus/bus';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import { BalanceLowSchema } from '@reelgate/proto/billing/v1/billing_events';
import type { LowCredit } from '../store/accounts/account-store.ts';

/**
 * Announces that less than a tenth of a credit is left. The id of the event follows from the account and the credit, so
 * the bus drops a repeat by another replica or after a crash. The intended repeat has an id of its own.
 */
export function announceLowCredit(bus: EventPublisher): (low: LowCredit) => Promise<void> {
  return async ({ accountId, currency, creditKey, credit, available, isRepeat }) => {
    const message = toMessage(BalanceLowSchema, {
      accountId,
      creditKey,
      availableNanos: available,
      creditNanos: credit,
      currency,
    });
    await bus.publish(BalanceLowSchema, message, `${toEventId(accountId, creditKey)}${isRepeat ? ':repeat' : ''}`);
  };
}

/** A credit's key holds a text of an operator, which a bus may not accept as an id. */
function toEventId(accountId: string, creditKey: string): string {
  return createHash('sha256')
    .update(JSON.stringify([accountId, creditKey]))
    .digest('base64url');
}
