import { ScalarType, getOption, hasOption } from '@bufbuild/protobuf';
import type { DescField, DescMessage, DescMethod } from '@bufbuild/protobuf';
import { Scope, access } from '@reelgate/proto/access/v1/access';
import type { Access } from '@reelgate/proto/access/v1/access';
import { Problem } from '../problem.ts';
import { wordOfScope } from './scopes.ts';
import type { Caller } from './service.ts';

/** Refuses a caller that may not make this call. */
export type AssertMayCall = (caller: Caller, request: object) => void;

/** The accounts that a request, or a part of it, names. */
type NamedAccounts = (message: unknown) => readonly string[];

/**
 * The check of an RPC, from the access rule beside it in the contract. Every transport runs it before the method. An
 * RPC without a valid rule throws here, at the start of the program.
 */
export function accessCheckOf(method: DescMethod): AssertMayCall {
  const { scope, whose } = ruleOf(method);
  const assertScope = scopeCheck(scope, `${method.parent.typeName}/${method.name}`);
  const assertAccounts = accountCheck(method, whose);
  return (caller, request) => {
    assertScope(caller);
    if (caller.accounts !== '*') assertAccounts(caller, caller.accounts, request);
  };
}

/** The access rule that the contract gives an RPC. */
export function ruleOf(method: DescMethod): Access {
  const rule = hasOption(method, access) ? getOption(method, access) : undefined;
  if (rule === undefined) throw faulty(method, 'has no access rule; add option (reelgate.access.v1.access) to it');
  if (rule.scope === Scope.UNSPECIFIED) throw faulty(method, 'has an access rule without a scope');
  if (rule.whose.case === undefined || rule.whose.value === '')
    throw faulty(method, 'has an access rule without an account_field, looked_up_by, no_account or every_account');
  if (rule.whose.case === 'accountField' || rule.whose.case === 'lookedUpBy') namedBy(method, rule.whose.value);
  return rule;
}

/** Refuses a caller without the scope. `call` names the call that needs it. */
export function scopeCheck(scope: Scope, call: string): (caller: Caller) => void {
  return ({ name, scopes }) => {
    if (scopes.has(scope)) return;
    const held = scopes.size === 0 ? 'no scope' : [...scopes].map(wordOfScope).join(', ');
    throw new Problem({
      kind: 'forbidden',
      reason: 'scope_missing',
      message: `${call} needs the scope ${wordOfScope(scope)}; the caller ${name} has ${held}`,
    });
  };
}

/**
 * For an RPC whose rule says `looked_up_by`: refuses a caller if none of its accounts owns the resource of the field. A
 * resource that does not exist gets the same refusal as one of another account.
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
    const [named, field] = [namedBy(method, whose.value), whose.value];
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
function namedBy(method: DescMethod, path: string): NamedAccounts {
  const named = textsAt(method.input, path.split('.'));
  if (named === undefined) throw faulty(method, `has an access rule for ${path}, which is not a string of its request`);
  return named;
}

function textsAt(message: DescMessage, [name, ...rest]: readonly string[]): NamedAccounts | undefined {
  const field = message.fields.find((one) => one.name === name && one.oneof === undefined && one.fieldKind !== 'map');
  if (field === undefined) return undefined;
  const inner = rest.length === 0 ? textOf(field) : field.message && textsAt(field.message, rest);
  return inner && ((parent) => valuesOf(parent, field).flatMap(inner));
}

function textOf(field: DescField): NamedAccounts | undefined {
  return field.scalar === ScalarType.STRING ? (value) => [value as string] : undefined;
}

/** Gives none for an absent message. */
function valuesOf(message: unknown, { localName }: DescField): readonly unknown[] {
  const value = (message as Readonly<Record<string, unknown>>)[localName];
  if (Array.isArray(value)) return value;
  return value === undefined ? [] : [value];
}

function faulty(method: DescMethod, what: string): Error {
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
