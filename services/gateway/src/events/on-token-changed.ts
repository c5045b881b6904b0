import type { Bus, Subscription } from '@reelgate/platform/bus/bus';
import { TokenChangedSchema } from '@reelgate/proto/billing/v1/billing_events';
import type { Principals } from '../operations/principals.ts';

/** Drops a changed or revoked token from the cache. */
export function onTokenChanged(bus: Bus, principals: Principals): Promise<Subscription> {
  return bus.listen(TokenChangedSchema, ({ tokenId }) => {
    principals.drop(tokenId);
  });
}
