import type { Money } from './money.ts';
import type { State } from './tasks.ts';

export type Resolution = 'completed' | 'failed' | 'retry';

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
  /** What will be charged; undefined: nothing is charged or released yet. */
  readonly charge?: Money;
  /** What goes back to the account; undefined: nothing does yet. */
  readonly release?: Money;
  /** Undefined: it can be made. */
  readonly refusedBecause?: string;
  /**
   * Whether its amounts are not known here, as for a job or while billing is away. `completed` then charges the hold or
   * the usage, and `failed` releases the hold.
   */
  readonly isUnpriced?: true;
}

/** GET /attention: at most 200, the oldest first. */
export interface AttentionList {
  readonly items: readonly AttentionRow[];
  readonly hasMore: boolean;
  /** Whether the visitor may decide. */
  readonly canDecide: boolean;
}

/** POST /attention/{id}. It answers {}. */
export interface DecisionRequest {
  readonly resolution: Resolution;
  readonly reason: string;
}
