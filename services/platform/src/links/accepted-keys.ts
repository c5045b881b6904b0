import type { SigningKey } from '../secret.ts';

/**
 * The keys of what was signed, the one that signs now first. The others sign nothing; what they signed before is still
 * accepted, so that the signing key can be replaced without an interruption.
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
