import { createHash } from 'node:crypto';
import { Problem } from '../problem.ts';
import type { Secret } from '../secret.ts';
import { sameSecret } from '../secret.ts';
import type { Caller } from './service.ts';

export interface KnownCaller extends Caller {
  readonly key: Secret;
}

/** Finds who calls by its key, or refuses. */
export type IdentifyCaller = (authorization: string | undefined) => Caller;

export function callersByKey(known: readonly KnownCaller[]): IdentifyCaller {
  const byDigest = new Map(known.map((caller) => [digest(caller.key.reveal()), caller]));
  return (authorization) => {
    const key = authorization?.startsWith('Bearer ') === true ? authorization.slice('Bearer '.length) : '';
    const caller = byDigest.get(digest(key));
    if (key === '' || caller === undefined || !sameSecret(caller.key.reveal(), key)) {
      throw new Problem({ kind: 'unauthenticated', reason: 'invalid_caller_key', message: 'send the internal caller key as `authorization: Bearer …`' });
    }
    return { name: caller.name, accounts: caller.accounts };
  };
}

/** A caller with a list of accounts may only call what names one of them. */
export function assertMayCall(caller: Caller, request: object): void {
  if (caller.accounts === '*') return;
  const account = (request as { readonly accountId?: unknown }).accountId;
  if (typeof account === 'string' && caller.accounts.includes(account)) return;
  throw new Problem({ kind: 'forbidden', reason: 'account_not_allowed', message: `must be one of the accounts of the caller ${caller.name}`, field: 'account_id' });
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
