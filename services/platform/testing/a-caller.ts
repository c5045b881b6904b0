import { EVERY_SCOPE } from '../src/rpc/access.ts';
import type { Caller } from '../src/rpc/service.ts';

/** The caller of a test. It may call every RPC for every account unless the test restricts it. */
export function aCaller(changes: Partial<Caller> = {}): Caller {
  return { name: 'program', accounts: '*', scopes: EVERY_SCOPE, ...changes };
}
