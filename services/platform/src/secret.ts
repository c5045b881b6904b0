import { createHmac, timingSafeEqual } from 'node:crypto';
import { inspect } from 'node:util';

/** A value that always prints as `***`. Only `reveal` gives the value. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
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

/** Derives a secret for a named purpose. The derived secret reveals nothing about the original one. */
export function deriveSecret(secret: Secret, purpose: string): Secret {
  return new Secret(createHmac('sha256', secret.reveal()).update(purpose).digest('base64url'));
}

/** Compares in constant time. */
export function sameSecret(left: string, right: string): boolean {
  const key = 'compare';
  return timingSafeEqual(
    createHmac('sha256', key).update(left).digest(),
    createHmac('sha256', key).update(right).digest(),
  );
}
