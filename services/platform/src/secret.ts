import { createHmac, timingSafeEqual } from 'node:crypto';
import { inspect } from 'node:util';

/** A key from which the keys of named purposes follow. A key of one purpose reveals neither it nor the others. */
export interface SigningKey {
  derive(purpose: string): Secret;
}

/** A value that always prints as `***`. Only `reveal` returns the value. */
export class Secret implements SigningKey {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  derive(purpose: string): Secret {
    return new Secret(createHmac('sha256', this.#value).update(purpose).digest('base64url'));
  }

  toString(): string {
    return '***';
  }

  toJSON(): string {
    return '***';
  }

  [inspect.custom](): string {
    return '***';
  }
}

/** Derives a secret for a named purpose. The derived secret does not reveal the original one. */
export function deriveSecret(key: SigningKey, purpose: string): Secret {
  return key.derive(purpose);
}

/** Compares in constant time. */
export function isSameSecret(left: string, right: string): boolean {
  const key = 'compare';
  return timingSafeEqual(
    createHmac('sha256', key).update(left).digest(),
    createHmac('sha256', key).update(right).digest(),
  );
}

/**
 * The keys that verify signatures, beginning with the key that signs. The others no longer sign, and their signatures
 * are still accepted, so that the signing key can be replaced without an interruption.
 */
export interface AcceptedKeys {
  /** For links, callback addresses, and calls between the services. */
  readonly signatures: readonly [SigningKey, ...SigningKey[]];
  /** For the stored hashes of the keys of tokens. */
  readonly tokens: readonly [SigningKey, ...SigningKey[]];
}

export function acceptOnly(key: SigningKey): AcceptedKeys {
  return { signatures: [key], tokens: [key] };
}
