import type { Money } from './money.ts';
import type { State } from './tasks.ts';
import type { Resolution } from '../../src/domain/operator-records.ts';

export type { Resolution } from '../../src/domain/operator-records.ts';

export interface AttentionRow {
  readonly id: string;
  readonly isJob: boolean;
  readonly since: number;
  readonly reason: string;
  readonly detail: string;
  readonly accountId: string;
  readonly model: string;
  readonly channel: string;
  readonly state: State;
  readonly held?: Money;
  readonly decisions: readonly Decision[];
}

/** A possible decision and what it does to the money. */
export interface Decision {
  readonly resolution: Resolution;
  /** The amount that will be charged; undefined if nothing is charged or released yet. */
  readonly charge?: Money;
  /** The amount that goes back to the account; undefined if nothing goes back yet. */
  readonly release?: Money;
  /** Undefined: it can be made. */
  readonly refusedBecause?: string;
  /**
   * True if its amounts are unknown here, as while billing is away. `completed` then charges the hold or the usage, and
   * `failed` releases the hold.
   */
  readonly isUnpriced?: true;
}

/** GET /attention: at most 200, the oldest first. */
export interface AttentionList {
  readonly items: readonly AttentionRow[];
  readonly hasMore: boolean;
  /** True if the visitor may decide. */
  readonly canDecide: boolean;
  /** The name that the acts of the visitor have. */
  readonly you: string;
}

/** POST /attention/{id}. The same decision of the same visitor again answers as the first one, and decides nothing. */
export interface DecisionRequest {
  readonly resolution: Resolution;
  readonly reason: string;
}

/** The outcome of a decision. */
export interface DecisionAnswer {
  readonly resolution: Resolution;
  readonly at: number;
  /** Undefined: it could not be read. */
  readonly money?: DecidedMoney;
}

export interface DecidedMoney {
  readonly held: Money;
  /** Undefined: nothing is charged or released yet. */
  readonly charged?: Money;
  /** The amount that went back to the account; set together with `charged`. */
  readonly released?: Money;
}
