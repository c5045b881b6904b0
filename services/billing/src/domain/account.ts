import type { Nanos } from './money.ts';

/** The money of one client. */
export interface Account {
  readonly id: string;
  /** ISO 4217. */
  readonly currency: string;
  /** Credits minus settlements. */
  readonly balance: Nanos;
  /** Open holds. */
  readonly held: Nanos;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** The amounts that an account and one of its tokens can still hold, at one moment. Reading them moves no money. */
export interface Remainder {
  readonly accountId: string;
  readonly tokenId: string;
  readonly ofAccount: Nanos;
  /** Undefined if the token has no limit. */
  readonly ofToken: Nanos | undefined;
}
