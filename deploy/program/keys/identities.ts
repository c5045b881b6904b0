import { Scope } from '@reelgate/proto/access/v1/access';
import type { KnownCaller } from '@reelgate/platform/rpc/callers';
import type { Caller } from '@reelgate/platform/rpc/service';
import { deriveSecret } from '@reelgate/platform/secret';
import type { Secret, SigningKey } from '@reelgate/platform/secret';

export const SERVICE_NAMES = ['gateway', 'tasks', 'billing', 'media'] as const;
export type ServiceName = (typeof SERVICE_NAMES)[number];
export type CalledService = Exclude<ServiceName, 'gateway'>;

/** The parts of the program that call services, and their scopes. Billing and media call no service and have no key. */
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
    Scope.SESSIONS_INTERNAL,
  ],
  tasks: [Scope.ACCOUNT_READ, Scope.BILLING_INTERNAL, Scope.MEDIA_INTERNAL],
  operator: [
    Scope.OPERATOR,
    Scope.TASKS_READ,
    Scope.TASKS_WRITE,
    Scope.ACCOUNT_READ,
    Scope.TOKENS_WRITE,
    Scope.WEBHOOKS_READ,
    Scope.WEBHOOKS_WRITE,
  ],
} as const;

export type Identity = keyof typeof SCOPES;
export const IDENTITIES = Object.keys(SCOPES) as readonly Identity[];

/** Returns the caller that the services see when a part of the program calls them. */
export function toCaller(name: Identity): Caller {
  return { name, accounts: '*', scopes: new Set<Scope>(SCOPES[name]) };
}

/** Names the key with which a part of the program calls a service. */
export function callPurpose(caller: Identity, callee: ServiceName): string {
  return `call:${caller}:${callee}`;
}

/** The key with which a part of the program calls a service. No other service accepts it. */
export function callKey(caller: Identity, callee: ServiceName, signingKey: SigningKey): Secret {
  return deriveSecret(signingKey, callPurpose(caller, callee));
}

/** Lists each part under each of the signing keys, as a service knows it. */
export function listIdentities(callee: ServiceName, signingKeys: readonly SigningKey[]): readonly KnownCaller[] {
  return IDENTITIES.flatMap((name) =>
    signingKeys.map((key) => ({ ...toCaller(name), key: callKey(name, callee, key) })),
  );
}
