import type { Secret } from '../secret.ts';

/**
 * The keys of what was signed, the one that signs now first. The others sign nothing; what they signed before is still
 * accepted, so that the signing key can be replaced without an interruption.
 */
export interface AcceptedKeys {
  /** For links, callback addresses, and calls between the services. */
  readonly signatures: readonly [Secret, ...Secret[]];
  /** For the stored hashes of the keys of tokens. */
  readonly tokens: readonly [Secret, ...Secret[]];
}

export function acceptOnly(key: Secret): AcceptedKeys {
  return { signatures: [key], tokens: [key] };
}
