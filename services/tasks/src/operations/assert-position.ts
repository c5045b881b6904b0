import { Problem } from '@reelgate/platform/problem';

/** Refuses a place to go on from that is nobody's, or another account's; without a name every account's will do. */
export function assertPosition(found: { readonly accountId: string } | undefined, accountId: string, what: 'task' | 'job'): void {
  if (found !== undefined && (accountId === '' || found.accountId === accountId)) return;
  const whose = accountId === '' ? '' : ' of this account';
  throw new Problem({ kind: 'invalid', reason: 'invalid_request', field: 'after', message: `must be the id of a ${what}${whose}, such as the last of the page before` });
}
