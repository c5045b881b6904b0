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
