import { createHmac } from 'node:crypto';
import { deriveSecret } from '@reelgate/platform/secret';
import type { Secret } from '@reelgate/platform/secret';

/** What is kept of a token's key: it finds the token, and gives nobody the key. */
export type HashKey = (key: string) => string;

/** HMAC-SHA256 under a key of its own, so that a copy of the database is of no use for guessing. */
export function keyHasher(signingKey: Secret): HashKey {
  const secret = deriveSecret(signingKey, 'token-hash');
  return (key) => createHmac('sha256', secret.reveal()).update(key).digest('base64url');
}
