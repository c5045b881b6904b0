import { Problem } from '@reelgate/platform/problem';

/** Refuses a list position that is unknown or belongs to another account. An empty `accountId` allows every account. */
export function assertPosition(
  found: { readonly accountId: string } | undefined,
  accountId: string,
  what: 'task' | 'job',
): void {
  if (found !== undefined && (accountId === '' || found.accountId === accountId)) return;
  const whose = accountId === '' ? '' : ' of this account';
  throw new Problem({
    kind: 'invalid',
    reason: 'invalid_request',
    field: 'after',
    message: `must be the id of a ${what}${whose}, such as the last id of the previous page`,
  });
}
