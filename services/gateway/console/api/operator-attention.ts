import type { Charge, ChargeJson } from '@reelgate/proto/billing/v1/hold';
import type { WholeJson } from './calls.ts';

/** A decision of an operator on work with an unknown outcome. */
export type Resolution = 'completed' | 'failed' | 'retry';

/** POST /attention/{id}. A repeat of the decision by the same visitor gets the first answer and has no further effect. */
export interface DecisionRequest {
  readonly resolution: Resolution;
  readonly reason: string;
}

/** The outcome of a decision. */
export interface DecisionAnswer {
  readonly resolution: Resolution;
  readonly at: number;
  /** The money after the decision; undefined if it could not be read. */
  readonly charge?: WholeJson<Charge, ChargeJson>;
}
