import { createHash } from 'node:crypto';
import { Problem } from '../problem.ts';
import type { Secret } from '../secret.ts';
import { sameSecret } from '../secret.ts';
import type { Caller } from './service.ts';

export interface KnownCaller extends Caller {
  readonly key: Secret;
}

/** Finds the caller by its key, or refuses. */
export type IdentifyCaller = (authorization: string | undefined) => Caller;

export function callersByKey(known: readonly KnownCaller[]): IdentifyCaller {
  const byDigest = new Map(known.map(({ key, ...shown }) => [digest(key.reveal()), { key, shown }]));
  return (authorization) => {
    const key = authorization?.startsWith('Bearer ') === true ? authorization.slice('Bearer '.length) : '';
    const caller = byDigest.get(digest(key));
    if (key === '' || caller === undefined || !sameSecret(caller.key.reveal(), key)) {
      throw new Problem({
        kind: 'unauthenticated',
        reason: 'invalid_caller_key',
        message: 'send the internal caller key as `authorization: Bearer …`',
      });
    }
    return caller.shown;
  };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
