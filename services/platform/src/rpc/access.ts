import { ScalarType, getOption, hasOption } from '@bufbuild/protobuf';
import type { DescField, DescMessage, DescMethod } from '@bufbuild/protobuf';
import { Scope, access } from '@reelgate/proto/access/v1/access';
import type { Access } from '@reelgate/proto/access/v1/access';
import { Problem } from '../problem.ts';
import type { Caller } from './service.ts';

/** Refuses a caller that is not allowed to send this call. */
export type AssertMayCall = (caller: Caller, request: object) => void;

/** The accounts that a request, or a part of it, names. */
type ReadAccounts = (message: unknown) => readonly string[];

/**
 * Compiles the check of an RPC from its access rule in the contract. Every transport runs it before the method. An RPC
 * without a valid rule throws here, at the start of the program.
 */
export function compileAccessCheck(method: DescMethod): AssertMayCall {
  const { scope, whose } = readAccessRule(method);
  const assertScope = scopeCheck(scope, `${method.parent.typeName}/${method.name}`);
  const assertAccounts = accountCheck(method, whose);
  return (caller, request) => {
    assertScope(caller);
    if (caller.accounts !== '*') assertAccounts(caller, caller.accounts, request);
  };
}

/** Returns the access rule of an RPC in the contract. */
export function readAccessRule(method: DescMethod): Access {
  const rule = hasOption(method, access) ? getOption(method, access) : undefined;
  if (rule === undefined)
    throw newContractError(method, 'has no access rule; add option (reelgate.access.v1.access) to it');
  if (rule.scope === Scope.UNSPECIFIED) throw newContractError(method, 'has an access rule without a scope');
  if (rule.whose.case === undefined || rule.whose.value === '')
    throw newContractError(
      method,
      'has an access rule without an account_field, looked_up_by, no_account or every_account',
    );
  if (rule.whose.case === 'accountField' || rule.whose.case === 'lookedUpBy')
    newAccountReader(method, rule.whose.value);
  return rule;
}

/** Refuses a caller without the scope. `call` names the call that needs it. */
export function scopeCheck(scope: Scope, call: string): (caller: Caller) => void {
  return ({ name, scopes }) => {
    if (scopes.has(scope)) return;
    const held = scopes.size === 0 ? 'no scope' : [...scopes].map(toScopeWord).join(', ');
    throw new Problem({
      kind: 'forbidden',
      reason: 'scope_missing',
      message: `${call} needs the scope ${toScopeWord(scope)}; the caller ${name} has ${held}`,
    });
  };
}

/**
 * Refuses a caller of an RPC with a `looked_up_by` rule if none of its accounts owns the resource of the field. A
 * resource that does not exist gets the same refusal as a resource of another account.
 */
export function assertOwner(caller: Caller, accountId: string | undefined, field: string): void {
  if (caller.accounts === '*' || (accountId !== undefined && caller.accounts.includes(accountId))) return;
  throw notAllowed(`must name a resource of an account of the caller ${caller.name}`, field);
}

function accountCheck(
  method: DescMethod,
  whose: Access['whose'],
): (caller: Caller, accounts: readonly string[], request: object) => void {
  if (whose.case === 'accountField') {
    const [named, field] = [newAccountReader(method, whose.value), whose.value];
    return ({ name }, accounts, request) => {
      const wanted = named(request);
      if (wanted.length === 0 || wanted.includes('')) throw accountRequired(name, field);
      if (wanted.length > 0 && wanted.every((account) => accounts.includes(account))) return;
      throw notAllowed(`must be one of the accounts of the caller ${name}`, field);
    };
  }
  if (whose.case === 'everyAccount') {
    return ({ name }) => {
      throw notAllowed(`is for callers of every account; the caller ${name} has some accounts only`);
    };
  }
  // the service looks up the account itself, or there is no account
  return () => undefined;
}

/** Reads the strings at a path of a request. */
function newAccountReader(method: DescMethod, path: string): ReadAccounts {
  const named = findTextReader(method.input, path.split('.'));
  if (named === undefined)
    throw newContractError(method, `has an access rule for ${path}, which is not a string of its request`);
  return named;
}

function findTextReader(message: DescMessage, [name, ...rest]: readonly string[]): ReadAccounts | undefined {
  const field = message.fields.find((one) => one.name === name && one.oneof === undefined && one.fieldKind !== 'map');
  if (field === undefined) return undefined;
  const inner = rest.length === 0 ? newTextReader(field) : field.message && findTextReader(field.message, rest);
  return inner && ((parent) => readValues(parent, field).flatMap(inner));
}

function newTextReader(field: DescField): ReadAccounts | undefined {
  return field.scalar === ScalarType.STRING ? (value) => [value as string] : undefined;
}

/** Returns an empty list for an absent message. */
function readValues(message: unknown, { localName }: DescField): readonly unknown[] {
  const value = (message as Readonly<Record<string, unknown>>)[localName];
  if (Array.isArray(value)) return value;
  return value === undefined ? [] : [value];
}

function newContractError(method: DescMethod, what: string): Error {
  return new Error(`${method.parent.typeName}/${method.name} ${what}`);
}

function accountRequired(caller: string, field: string): Problem {
  return new Problem({
    kind: 'invalid',
    reason: 'invalid_request',
    message: `is required; the caller ${caller} has some accounts only`,
    field,
  });
}

function notAllowed(message: string, field?: string): Problem {
  return new Problem({ kind: 'forbidden', reason: 'account_not_allowed', message, field });
}

/** Every scope. */
export const EVERY_SCOPE: ReadonlySet<Scope> = new Set(
  Object.values(Scope).filter((value): value is Scope => typeof value === 'number' && value !== Scope.UNSPECIFIED),
);

/** The scopes by their names in configurations and messages, such as `account.read`. */
const WORDS: ReadonlyMap<Scope, string> = new Map(
  [...EVERY_SCOPE].map((scope) => [scope, Scope[scope].toLowerCase().replaceAll('_', '.')]),
);

const BY_WORD = new Map([...WORDS].map(([scope, word]) => [word, scope]));

export function toScopeWord(scope: Scope): string {
  return WORDS.get(scope) ?? String(scope);
}

export function parseScope(word: string): Scope | undefined {
  return BY_WORD.get(word);
}
