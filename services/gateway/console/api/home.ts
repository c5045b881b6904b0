import type { Money } from './money.ts';
import type { TaskRow } from './tasks.ts';

/** GET /home. */
export interface Home {
  /** Undefined if it cannot be read. */
  readonly money?: HomeMoney;
  /** At most 20, the newest first. */
  readonly running: readonly TaskRow[];
  /** The last five. */
  readonly failures: readonly TaskRow[];
  /** The last eight with a thumbnail. */
  readonly recent: readonly TaskRow[];
  readonly limits: readonly Limit[];
  readonly now: number;
}

export interface HomeMoney {
  /** Credits less settlements. */
  readonly balance: Money;
  /** Reserved for running work. */
  readonly held: Money;
  /** The money that can still be spent: the balance less the held amount. */
  readonly free: Money;
  /** Since midnight, in UTC. */
  readonly spentToday: Money;
  readonly spent30Days: Money;
}

/** A limit of the token and how much of it is used. */
export interface Limit {
  readonly name: 'creates_per_minute' | 'reads_per_minute' | 'calls_per_minute' | 'in_flight';
  /** Undefined if it is not known here. */
  readonly used?: number;
  readonly limit: number;
}
