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

/** A possible decision and its effect on the money. */
export interface Decision {
  readonly resolution: Resolution;
  /** The amount that will be charged; undefined until money is charged or released. */
  readonly charge?: Money;
  /** The amount that goes back to the account; undefined until money goes back. */
  readonly release?: Money;
  /** The reason for which the decision is not possible, or undefined if it is possible. */
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

/** POST /attention/{id}. A repeat of the decision by the same visitor gets the first answer and has no further effect. */
export interface DecisionRequest {
  readonly resolution: Resolution;
  readonly reason: string;
}

/** The outcome of a decision. */
export interface DecisionAnswer {
  readonly resolution: Resolution;
  readonly at: number;
  /** Undefined if it could not be read. */
  readonly money?: DecidedMoney;
}

export interface DecidedMoney {
  readonly held: Money;
  /** Undefined until money is charged or released. */
  readonly charged?: Money;
  /** The amount that went back to the account; set together with `charged`. */
  readonly released?: Money;
}
