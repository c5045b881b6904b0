import type { Nanos } from './money.ts';

/** The amounts that an account and one of its tokens can still hold, at one moment. Reading them moves no money. */
export interface Remainder {
  readonly accountId: string;
  readonly tokenId: string;
  readonly ofAccount: Nanos;
  /** Undefined: the token has no limit. */
  readonly ofToken: Nanos | undefined;
}
