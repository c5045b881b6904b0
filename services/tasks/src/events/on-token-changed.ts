import type { Bus, Subscription } from '@reelgate/platform/bus';
import { TokenChangedSchema } from '@reelgate/proto/billing/v1/billing_events';
import type { Tokens } from '../operations/cached-tokens.ts';

/** A token was revoked or changed: billing is asked again. */
export function onTokenChanged(bus: Bus, tokens: Tokens): Promise<Subscription> {
  return bus.listen(TokenChangedSchema, ({ tokenId }) => {
    tokens.drop(tokenId);
  });
}
