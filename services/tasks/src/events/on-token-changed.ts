import type { Bus, Subscription } from '@reelgate/platform/bus/bus';
import { TokenChangedSchema } from '@reelgate/proto/billing/v1/billing_events';
import type { Tokens } from '../operations/cached-tokens.ts';

/** A token was revoked or changed: the next use reads it from billing again. */
export function onTokenChanged(bus: Bus, tokens: Tokens): Promise<Subscription> {
  return bus.listen(TokenChangedSchema, ({ tokenId }) => {
    tokens.drop(tokenId);
  });
}
