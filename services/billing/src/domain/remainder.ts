import type { Nanos } from './money.ts';

/** What an account and one of its tokens can still hold, at one moment. It moves no money. */
export interface Remainder {
  readonly accountId: string;
  readonly tokenId: string;
  readonly ofAccount: Nanos;
  /** Undefined: the token has no limit. */
  readonly ofToken: Nanos | undefined;
}
