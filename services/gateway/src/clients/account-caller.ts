import type { CallOptions } from '@reelgate/platform/rpc/service';

/** The account whose data is read, and the request that a call is made for. */
export interface AccountCaller extends Pick<CallOptions, 'span'> {
  readonly accountId: string;
  readonly requestId: string;
}
