import { createHmac } from 'node:crypto';
import { isSameSecret } from '../secret.ts';
import type { Secret } from '../secret.ts';

/** The query that makes this path public until `expiresAt` (unix seconds). */
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
