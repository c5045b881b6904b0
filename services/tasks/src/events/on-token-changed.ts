import type { Bus, Subscription } from '@reelgate/platform/bus/bus';
import { TokenChangedSchema } from '@reelgate/proto/billing/v1/billing_events';
import type { Tokens } from '../operations/cached-tokens.ts';

/** Drops a revoked or changed token from the cache. Its next use reads it from billing. */
export function onTokenChanged(bus: Bus, tokens: Tokens): Promise<Subscription> {
  return bus.listen(TokenChangedSchema, ({ tokenId }) => {
    tokens.drop(tokenId);
  });
}
