import { createHmac } from 'node:crypto';
import { isSameSecret } from '../secret.ts';
import type { Secret } from '../secret.ts';

/** A name that cannot be forged without the key. It stays readable: `name.signature`. */
export function signName(key: Secret, name: string): string {
  return `${name}.${createHmac('sha256', key.reveal()).update(name).digest('base64url')}`;
}

/** The name in a result of `signName`; undefined: none of the keys signed it. */
export function readSignedName(keys: readonly Secret[], signed: string): string | undefined {
  const name = signed.slice(0, Math.max(signed.lastIndexOf('.'), 0));
  return keys.some((key) => isSameSecret(signName(key, name), signed)) ? name : undefined;
}
