import { Scope } from '@reelgate/proto/access/v1/access';
import type { KnownCaller } from '@reelgate/platform/rpc/callers';
import type { Caller } from '@reelgate/platform/rpc/service';
import { deriveSecret } from '@reelgate/platform/secret';
import type { Secret } from '@reelgate/platform/secret';

/** The parts of the program that call services, and their scopes. Billing and media call none and have no key. */
const SCOPES = {
  gateway: [
    Scope.TASKS_READ,
    Scope.TASKS_WRITE,
    Scope.TASKS_INTERNAL,
    Scope.ACCOUNT_READ,
    Scope.BILLING_INTERNAL,
    Scope.MEDIA_INTERNAL,
    Scope.WEBHOOKS_READ,
    Scope.WEBHOOKS_WRITE,
    Scope.TOKENS_WRITE,
  ],
  tasks: [Scope.ACCOUNT_READ, Scope.BILLING_INTERNAL, Scope.MEDIA_INTERNAL],
  operator: [Scope.OPERATOR, Scope.ACCOUNT_READ, Scope.TOKENS_WRITE, Scope.WEBHOOKS_READ, Scope.WEBHOOKS_WRITE],
} as const;

export type Identity = keyof typeof SCOPES;
export const IDENTITIES = Object.keys(SCOPES) as readonly Identity[];

/** The caller that the services see when one of the program's parts calls them. */
export function identityOf(name: Identity): Caller {
  return { name, accounts: '*', scopes: new Set<Scope>(SCOPES[name]) };
}

/** The key that identifies one of the program's parts; each part has its own. */
export function keyOf(name: Identity, signingKey: Secret): Secret {
  return deriveSecret(signingKey, `service:${name}`);
}

/** Each part under each of the signing keys. */
export function knownIdentities(signingKeys: readonly Secret[]): readonly KnownCaller[] {
  return IDENTITIES.flatMap((name) => signingKeys.map((key) => ({ ...identityOf(name), key: keyOf(name, key) })));
}
