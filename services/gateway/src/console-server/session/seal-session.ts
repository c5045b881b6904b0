import { createCipheriv, createDecipheriv, createSecretKey, hash } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import type { Clock } from '@reelgate/platform/clock';
import type { Random } from '@reelgate/platform/ids';
import { deriveSecret } from '@reelgate/platform/secret';
import type { AcceptedKeys } from '@reelgate/platform/secret';
import type { Role } from '../../domain/operator-role.ts';
import type { EndableSession } from './ended-sessions.ts';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** A longer cookie was not made here. */
const SEALED_MAX = 2048;

/** A session as it begins. */
export interface NewSession {
  /** The key with which the person signed in. */
  readonly key: string;
  /** `token:` and an id, or `operator:` and a name. */
  readonly subject: string;
  /** Of the list of ended sessions. */
  readonly version: number;
  /** The role that an operator had. */
  readonly role?: Role | undefined;
}

export interface OpenedSession extends NewSession, EndableSession {}

/**
 * Turns a session into a cookie, and back. The cookie is the whole session: every replica can open it, and no process
 * stores one that is open. Its nonce is its id.
 */
export interface SessionSeal {
  seal(session: NewSession): string;
  /** Returns undefined if it was not sealed here, was sealed for the other console, or has expired. */
  open(sealed: string): OpenedSession | undefined;
}

type SealedParts = readonly [
  sealedAt: number,
  key: string,
  subject: string,
  version: number,
  expiresAt: number,
  role: Role | null | undefined,
];

export interface SessionSealOptions {
  readonly keys: AcceptedKeys;
  /** Names the door, so that a session of one opens no other. */
  readonly purpose: string;
  readonly lifetimeMs: number;
  readonly clock: Clock;
  readonly random: Random;
}

export function sessionSeal({ keys, purpose, lifetimeMs, clock, random }: SessionSealOptions): SessionSeal {
  const accepted = keys.signatures.map((key) => createSecretKey(deriveSecret(key, purpose).reveal(), 'base64url'));
  const [current] = accepted;
  if (current === undefined) throw new Error('there is no signing key');
  return {
    seal: ({ key, subject, version, role }) => {
      const parts: SealedParts = [clock.now(), key, subject, version, clock.now() + lifetimeMs, role];
      const nonce = new Uint8Array(NONCE_BYTES);
      random(nonce);
      const cipher = createCipheriv(CIPHER, current, nonce).setAAD(Buffer.from(purpose));
      const text = Buffer.concat([cipher.update(JSON.stringify(parts), 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url');
    },
    open: (sealed) => {
      if (sealed.length > SEALED_MAX) return undefined;
      const bytes = Buffer.from(sealed, 'base64url');
      const text = findFirstResult(accepted, (one) => decryptSeal(one, bytes, purpose));
      if (text === undefined) return undefined;
      const [sealedAt, key, subject, version, expiresAt, role] = JSON.parse(text) as SealedParts;
      const isOver = clock.now() >= Math.min(expiresAt, sealedAt + lifetimeMs);
      return isOver
        ? undefined
        : { key, subject, version, expiresAt, role: role ?? undefined, digest: computeDigest(bytes) };
    },
  };
}

function computeDigest(sealed: Buffer): string {
  return hash('sha256', sealed.subarray(0, NONCE_BYTES), 'base64url');
}

function findFirstResult<T, R>(list: readonly T[], find: (one: T) => R | undefined): R | undefined {
  for (const one of list) {
    const found = find(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

function decryptSeal(key: KeyObject, sealed: Buffer, purpose: string): string | undefined {
  const textAt = NONCE_BYTES + TAG_BYTES;
  if (sealed.length <= textAt) return undefined;
  try {
    const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(purpose))
      .setAuthTag(sealed.subarray(NONCE_BYTES, textAt));
    return decipher.update(sealed.subarray(textAt), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    // another key sealed it, or it was changed
    return undefined;
  }
}
