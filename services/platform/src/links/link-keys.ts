import { Secret } from '../secret.ts';
import type { SigningKey } from '../secret.ts';
import type { AcceptedKeys } from './accepted-keys.ts';

export const LINKS_PURPOSE = 'links';

/** The key that signs links. */
export function linkKey(signingKey: SigningKey): Secret {
  return signingKey.derive(LINKS_PURPOSE);
}

/** The keys whose links open. Earlier releases signed links with the signing key itself. */
export function listAcceptedLinkKeys({ signatures }: AcceptedKeys): readonly Secret[] {
  return [...signatures.map(linkKey), ...signatures.filter((key) => key instanceof Secret)];
}
