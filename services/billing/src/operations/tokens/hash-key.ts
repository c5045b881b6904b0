import { createHmac } from 'node:crypto';
import { deriveSecret } from '@reelgate/platform/secret';
import type { Secret } from '@reelgate/platform/secret';

/** The stored hash of a token's key. It finds the token and does not reveal the key. */
export type HashKey = (key: string) => string;

/** HMAC-SHA256 under a secret of its own, so that keys cannot be guessed from a copy of the database. */
export function keyHasher(signingKey: Secret): HashKey {
  const secret = deriveSecret(signingKey, 'token-hash');
  return (key) => createHmac('sha256', secret.reveal()).update(key).digest('base64url');
}
