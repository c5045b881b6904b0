import { LINKS_PURPOSE } from '@reelgate/platform/signatures';
import { Secret } from '@reelgate/platform/secret';
import type { SigningKey, AcceptedKeys } from '@reelgate/platform/secret';
import { IDENTITIES, callPurpose } from './identities.ts';
import type { Identity, CalledService, ServiceName } from './identities.ts';
import type { ProgramConfig } from '../config/program-config.ts';
import { toAcceptedKeys, openSigningKey } from './signing-key.ts';

const FORM = /^reelgate-(?<service>[a-z]+)-key-v1\.(?<body>[\w-]+)$/;
export const NOT_A_SERVICE_KEY = 'is not a service key; expected the output of `reelgate keys derive --service NAME`';
const TOKEN_PURPOSES: readonly string[] = ['token-hash'];

const listAcceptedCalls = (callee: ServiceName): readonly string[] =>
  IDENTITIES.map((name) => callPurpose(name, callee));
const listCallPurposes = (caller: Identity, callees: readonly CalledService[]): readonly string[] =>
  callees.map((callee) => callPurpose(caller, callee));

/** The purposes that each service has keys for. The command line runs with the gateway's. */
const PURPOSES: Readonly<Record<ServiceName, readonly string[]>> = {
  gateway: [
    ...[
      LINKS_PURPOSE,
      'upstream-callbacks',
      'upstream-state',
      'confirmations',
      'console-session',
      'operator-session',
      'console-operator',
    ],
    ...listAcceptedCalls('gateway'),
    ...listCallPurposes('gateway', ['tasks', 'billing', 'media']),
    ...listCallPurposes('operator', ['tasks', 'billing', 'media']),
  ],
  tasks: [
    ...[LINKS_PURPOSE, 'upstream-callbacks', 'webhook-secrets'],
    ...listAcceptedCalls('tasks'),
    ...listCallPurposes('tasks', ['billing', 'media']),
  ],
  billing: [...TOKEN_PURPOSES, ...listAcceptedCalls('billing')],
  media: [LINKS_PURPOSE, ...listAcceptedCalls('media')],
};

/** The keys that follow from one signing key. */
interface KeysOfOne {
  readonly accept: 'all' | 'tokens';
  /** The keys by purpose. */
  readonly keys: Readonly<Record<string, string>>;
}

/** The keys that a service holds instead of the signing key. */
export interface ServiceKey {
  readonly service: ServiceName;
  readonly acceptedKeys: AcceptedKeys;
}

/**
 * Derives the keys of one service from the signing key and the other signing keys. They do not reveal any signing key.
 */
export function deriveServiceKey(service: ServiceName, { signatures, tokens }: AcceptedKeys): Secret {
  const all = tokens.map((key): KeysOfOne => {
    const accept = signatures.includes(key) ? 'all' : 'tokens';
    const purposes = PURPOSES[service].filter((name) => accept === 'all' || TOKEN_PURPOSES.includes(name));
    return { accept, keys: Object.fromEntries(purposes.map((name) => [name, key.derive(name).reveal()])) };
  });
  return new Secret(`reelgate-${service}-key-v1.${Buffer.from(JSON.stringify(all)).toString('base64url')}`);
}

/** Reads the text of `deriveServiceKey`. Returns undefined for any other text. */
export function readServiceKey(written: Secret): ServiceKey | undefined {
  const { service: name = '', body = '' } = FORM.exec(written.reveal().trim())?.groups ?? {};
  const all = parseBody(body);
  if (!isServiceName(name) || all?.[0]?.accept !== 'all') return undefined;
  const keys = all.map((one) => ({ ...one, key: toSigningKey(name, one.keys) }));
  return {
    service: name,
    acceptedKeys: {
      signatures: withFirst(keys.filter(({ accept }) => accept === 'all').map(({ key }) => key)),
      tokens: withFirst(keys.map(({ key }) => key)),
    },
  };
}

const isServiceName = (name: string): name is ServiceName => Object.hasOwn(PURPOSES, name);

/** A list that has a first key, as the caller knows. */
function withFirst(keys: readonly SigningKey[]): readonly [SigningKey, ...SigningKey[]] {
  const [first, ...others] = keys;
  if (first === undefined) throw new Error('a service key contains no keys');
  return [first, ...others];
}

function parseBody(body: string): readonly KeysOfOne[] | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(body, 'base64url').toString());
    return Array.isArray(value) && value.every(isKeysOfOne) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isKeysOfOne(value: unknown): value is KeysOfOne {
  if (typeof value !== 'object' || value === null) return false;
  const { accept, keys } = value as Partial<KeysOfOne>;
  const isKnown = accept === 'all' || accept === 'tokens';
  return isKnown && typeof keys === 'object' && Object.values(keys).every((key) => typeof key === 'string');
}

function toSigningKey(service: ServiceName, keys: Readonly<Record<string, string>>): SigningKey {
  const held = new Map(Object.entries(keys).map(([purpose, key]) => [purpose, new Secret(key)]));
  return {
    derive: (purpose) => {
      const key = held.get(purpose);
      if (key === undefined) throw new Error(`the service_key of ${service} has no key for ${purpose}`);
      return key;
    },
  };
}

/**
 * Returns the keys of the configuration: those derived from the signing key and the other signing keys, or the keys of
 * one service.
 */
export function readAcceptedKeys({ dataDir, signingKey, otherSigningKeys, serviceKey }: ProgramConfig): AcceptedKeys {
  if (serviceKey === undefined) return toAcceptedKeys(openSigningKey(dataDir, signingKey), otherSigningKeys);
  const read = readServiceKey(serviceKey);
  if (read === undefined) throw new Error(`service_key: ${NOT_A_SERVICE_KEY}`);
  return read.acceptedKeys;
}
