import type { Nanos } from './money.ts';

/** Whose money it is. */
export interface Account {
  readonly id: string;
  /** ISO 4217. */
  readonly currency: string;
  /** Credits less settlements. */
  readonly balance: Nanos;
  /** Open holds. */
  readonly held: Nanos;
}
