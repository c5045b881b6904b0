import { createCipheriv, createDecipheriv, createSecretKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import type { Random } from '@reelgate/platform/ids';
import { Secret, deriveSecret } from '@reelgate/platform/secret';
import type { SigningKey, AcceptedKeys } from '@reelgate/platform/secret';

const PURPOSE = 'webhook-secrets';
const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const NAME_CHARACTERS = 8;
const SEALED = /^(?<name>[\w-]{8})\.(?<bytes>[\w-]+)$/;

/** Encrypts secrets for the store. A sealed secret opens only for the owner that it was sealed for. */
export interface Sealer {
  seal(secret: Secret, ownerId: string): string;
  /** Undefined if no accepted key opens it. */
  open(sealed: string, ownerId: string): Secret | undefined;
  /** Reports whether the current signing key has sealed it. */
  isCurrent(sealed: string): boolean;
}

interface SealingKey {
  /** Identifies the key that sealed a secret, and reveals no part of it. */
  readonly name: string;
  /** A quarter of the processor time that its bytes would take, and it never prints them. */
  readonly key: KeyObject;
}

/** Seals with a key that is derived from the signing key, and opens with the keys of every accepted signing key. */
export function sealer({ signatures }: AcceptedKeys, random: Random): Sealer {
  const current = deriveSealingKey(signatures[0]);
  const accepted = signatures.map(deriveSealingKey);
  return {
    seal: (secret, ownerId) => {
      const nonce = new Uint8Array(NONCE_BYTES);
      random(nonce);
      const cipher = createCipheriv(CIPHER, current.key, nonce).setAAD(Buffer.from(ownerId));
      const text = Buffer.concat([cipher.update(secret.reveal(), 'utf8'), cipher.final()]);
      return `${current.name}.${Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url')}`;
    },
    open: (sealed, ownerId) => {
      const { name, bytes = '' } = SEALED.exec(sealed)?.groups ?? {};
      const key = accepted.find((one) => one.name === name);
      return key === undefined ? undefined : decryptSecret(key, Buffer.from(bytes, 'base64url'), ownerId);
    },
    isCurrent: (sealed) => SEALED.exec(sealed)?.groups?.['name'] === current.name,
  };
}

function decryptSecret({ key }: SealingKey, sealed: Buffer, ownerId: string): Secret | undefined {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  try {
    const cipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(ownerId))
      .setAuthTag(tag);
    return new Secret(
      cipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + cipher.final('utf8'),
    );
  } catch {
    // the text or its owner was changed
    return undefined;
  }
}

function deriveSealingKey(signingKey: SigningKey): SealingKey {
  const secret = deriveSecret(signingKey, PURPOSE);
  return {
    key: createSecretKey(secret.reveal(), 'base64url'),
    name: deriveSecret(secret, 'name').reveal().slice(0, NAME_CHARACTERS),
  };
}
