import { Scope } from '@reelgate/proto/access/v1/access';
import { list, readSection, secret, section, text } from '@reelgate/platform/config/settings';
import type { EntryOf } from '@reelgate/platform/config/settings';
import type { ConfigFile } from '@reelgate/platform/config/config-file';
import type { KnownCaller } from '@reelgate/platform/rpc/callers';
import { parseScope, toScopeWord } from '@reelgate/platform/rpc/access';
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

const callerKeys = {
  name: text('the name of the caller', { required: true, minLength: 1 }),
  key: secret('the key that the caller sends, at least 8 characters, and 32 with the scope `operator`', {
    minLength: KEY_LENGTH_MIN,
    absent: 'required without a `certificate`',
  }),
  certificate: text('a name in the client certificate of the caller', {
    minLength: 1,
    absent: 'none',
    expects: 'the common name, DNS name, URI or e-mail address in its client certificate, instead of a key',
  }),
  accounts: list(
    'a list of the ids of its accounts, or `["*"]` for every account',
    text('the id of an account', { minLength: 1 }),
    { required: true, expects: 'a list of ids of accounts, or ["*"] for every account' },
  ),
  scopes: list('what it may do; a caller that names none may read tasks and nothing else', text('a scope'), {
    default: [toScopeWord(Scope.TASKS_READ)],
    minItems: 1,
    expects: `some of: ${GRANTABLE.join(', ')}`,
  }),
};

/** The key `internal_callers`. */
export const internalCallersKey = list('teams that call the services over gRPC', section(callerKeys, {}), {
  default: [],
});

export type InternalCallerEntry = EntryOf<typeof callerKeys>;

/** The callers of the checked configuration. Throws a ConfigError for faults that the schema cannot find. */
export function readInternalCallers(file: ConfigFile, entries: readonly InternalCallerEntry[]): readonly KnownCaller[] {
  return entries.map((entry, index) => {
    const fault = (key: string, expected: string): Error => file.fault(['internal_callers', index, key], expected);
    if ((IDENTITIES as readonly string[]).includes(entry.name))
      throw fault('name', `${entry.name} is the name of one of the program's own parts; expected another name`);
    return {
      ...readSection(callerKeys, entry, `internal_callers.${index}`),
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
