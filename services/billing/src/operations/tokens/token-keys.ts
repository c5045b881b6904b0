import { createHmac } from 'node:crypto';
import { newKey } from '@reelgate/platform/ids';
import type { Random } from '@reelgate/platform/ids';
import { deriveSecret } from '@reelgate/platform/secret';
import type { SigningKey } from '@reelgate/platform/secret';

const KEY_BYTES = 24;

export function newTokenKey(random: Random): string {
  return newKey('rg', KEY_BYTES, random);
}

/**
 * The stored hash of a token's key, then its hashes under other signing keys. A hash finds the token and does not
 * reveal the key.
 */
export type KeyHasher = (key: string) => readonly string[];

/** HMAC-SHA256 under secrets of its own, so that keys cannot be guessed from a copy of the database. */
export function keyHasher(signingKeys: readonly SigningKey[]): KeyHasher {
  const secrets = signingKeys.map((key) => deriveSecret(key, 'token-hash'));
  return (key) => secrets.map((secret) => createHmac('sha256', secret.reveal()).update(key).digest('base64url'));
}
