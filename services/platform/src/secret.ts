import { createHmac, timingSafeEqual } from 'node:crypto';
import { inspect } from 'node:util';

/** A value that prints as `***` wherever it is printed; only `reveal` gives it. */
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

/** A further secret made from one, for a named purpose; knowing it tells nothing of the first. */
export function deriveSecret(secret: Secret, purpose: string): Secret {
  return new Secret(createHmac('sha256', secret.reveal()).update(purpose).digest('base64url'));
}

/** Compares in a time that does not depend on where the two differ. */
export function sameSecret(left: string, right: string): boolean {
  const key = 'compare';
  return timingSafeEqual(
    createHmac('sha256', key).update(left).digest(),
    createHmac('sha256', key).update(right).digest(),
  );
}
