import type { Foundation } from '@reelgate/platform/foundation';
import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import { onTokenChanged } from './events/on-token-changed.ts';
import { openTokenCache } from './operations/cached-tokens.ts';
import type { Tokens } from './operations/cached-tokens.ts';

/** The tokens of billing, in a cache that follows their changes. */
export async function openTokens(
  { bus, clock }: Foundation,
  billing: Parameters<typeof openTokenCache>[0],
  lifecycle: Lifecycle,
): Promise<Tokens> {
  const tokens = openTokenCache(billing, clock);
  const changes = await onTokenChanged(bus, tokens);
  lifecycle.add('token events', () => changes.stop());
  return tokens;
}
