import { createHmac } from 'node:crypto';
import { isSameSecret } from './secret.ts';
import type { SigningKey, AcceptedKeys, Secret } from './secret.ts';

/** Returns the query that makes this path public until `expiresAt` (unix seconds). */
export function signPath(key: Secret, path: string, expiresAt: number): string {
  return `exp=${expiresAt}&sig=${computeSignature(key, path, expiresAt)}`;
}

/** Reports whether one of the keys signed this path and time. It does not compare the time with the clock. */
export function isSigned(keys: readonly Secret[], path: string, expiresAt: number, signature: string): boolean {
  return keys.some((key) => isSameSecret(computeSignature(key, path, expiresAt), signature));
}

function computeSignature(key: Secret, path: string, expiresAt: number): string {
  return createHmac('sha256', key.reveal()).update(`${path}\n${expiresAt}`).digest('base64url');
}

export const LINKS_PURPOSE = 'links';

/** The key that signs links. */
export function linkKey(signingKey: SigningKey): Secret {
  return signingKey.derive(LINKS_PURPOSE);
}

/** Lists the keys that verify links. */
export function listAcceptedLinkKeys({ signatures }: AcceptedKeys): readonly Secret[] {
  return signatures.map(linkKey);
}

/** A name that cannot be forged without the key. It stays readable: `name.signature`. */
export function signName(key: Secret, name: string): string {
  return `${name}.${createHmac('sha256', key.reveal()).update(name).digest('base64url')}`;
}

/** Returns the name in a result of `signName`, or undefined if no key verifies it. */
export function readSignedName(keys: readonly Secret[], signed: string): string | undefined {
  const name = signed.slice(0, Math.max(signed.lastIndexOf('.'), 0));
  return keys.some((key) => isSameSecret(signName(key, name), signed)) ? name : undefined;
}
