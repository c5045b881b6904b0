import { Scope } from '@reelgate/proto/access/v1/access';
import type { ConfigFile } from '@reelgate/platform/config/config-file';
import type { KnownCaller } from '@reelgate/platform/rpc/callers';
import { parseScope, toScopeWord } from '@reelgate/platform/rpc/access';
import { Secret } from '@reelgate/platform/secret';
import { IDENTITIES } from '../keys/identities.ts';

const KEY_LENGTH_MIN = 8;
const EVERY_ACCOUNT = '*';
/** The scopes that a configuration may grant. Only the services have the others. */
const GRANTABLE = [
  Scope.TASKS_READ,
  Scope.TASKS_WRITE,
  Scope.WEBHOOKS_READ,
  Scope.WEBHOOKS_WRITE,
  Scope.ACCOUNT_READ,
  Scope.TOKENS_WRITE,
  Scope.OPERATOR,
].map(toScopeWord);

/** The scopes of a caller that names none: it may read tasks and nothing else. */
export const internalCallersSchema = {
  type: 'array',
  default: [],
  items: {
    type: 'object',
    additionalProperties: false,
    required: ['name', 'accounts'],
    properties: {
      name: { type: 'string', minLength: 1 },
      key: { type: 'string', minLength: KEY_LENGTH_MIN },
      certificate: {
        type: 'string',
        minLength: 1,
        description: 'the common name, DNS name, URI or e-mail address in its client certificate, instead of a key',
      },
      accounts: {
        type: 'array',
        items: { type: 'string', minLength: 1 },
        description: 'a list of ids of accounts, or ["*"] for every account',
      },
      scopes: {
        type: 'array',
        minItems: 1,
        items: { type: 'string' },
        default: [toScopeWord(Scope.TASKS_READ)],
        description: `some of: ${GRANTABLE.join(', ')}`,
      },
    },
  },
} as const;

export interface InternalCallerEntry {
  readonly name: string;
  readonly key?: string;
  readonly certificate?: string;
  readonly accounts: readonly string[];
  readonly scopes: readonly string[];
}

/** The callers of the checked configuration. Throws a ConfigError for faults that the schema cannot find. */
export function readInternalCallers(file: ConfigFile, entries: readonly InternalCallerEntry[]): readonly KnownCaller[] {
  return entries.map((entry, index) => {
    const fault = (key: string, expected: string): Error => file.fault(['internal_callers', index, key], expected);
    if ((IDENTITIES as readonly string[]).includes(entry.name))
      throw fault('name', `${entry.name} is the name of one of the program's own parts; expected another name`);
    return {
      name: entry.name,
      key: entry.key === undefined ? undefined : new Secret(entry.key),
      certificate: entry.certificate,
      accounts: readAccounts(entry, fault),
      scopes: readScopes(file, entry, index),
    };
  });
}

function readAccounts(
  { accounts }: InternalCallerEntry,
  fault: (key: string, expected: string) => Error,
): KnownCaller['accounts'] {
  if (!accounts.includes(EVERY_ACCOUNT)) return accounts;
  if (accounts.length > 1) throw fault('accounts', '"*" stands for every account; expected ["*"], or ids without it');
  return '*';
}

function readScopes(file: ConfigFile, { scopes }: InternalCallerEntry, caller: number): ReadonlySet<Scope> {
  return new Set(
    scopes.map((word, index) => {
      const scope = parseScope(word);
      if (scope !== undefined && GRANTABLE.includes(word)) return scope;
      const wrong = scope === undefined ? `unknown scope ${word}` : `only the services have ${word}`;
      throw file.fault(
        ['internal_callers', caller, 'scopes', index],
        `${wrong}; expected one of: ${GRANTABLE.join(', ')}`,
      );
    }),
  );
}
