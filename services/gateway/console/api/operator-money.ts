import type { Money } from './money.ts';

/** GET /money. Query: `from`, `to`. */
export interface MoneyView {
  readonly from: number;
  readonly to: number;
  readonly held: readonly { readonly balance: Money; readonly held: Money; readonly accounts: number }[];
  readonly settled: readonly {
    readonly priceKey: string;
    readonly charged: Money;
    readonly requests: number;
  }[];
  readonly margins: readonly {
    readonly channel: string;
    readonly priceKey: string;
    readonly requests: number;
    readonly charged: Money;
    readonly cost: Money;
    /** The parts of the cost: reported by the upstreams, and estimated by upstream prices. */
    readonly reported: CostPart;
    readonly estimated: CostPart;
    readonly margin: Money;
  }[];
  readonly overruns: number;
  readonly overrunAmount: string;
  readonly lapses: number;
  readonly lastCheck?: LedgerCheck;
  readonly contracts: readonly ContractRow[];
  readonly canVerify: boolean;
  readonly now: number;
}

/** A part of a cost, and the number of requests that it is of. */
export interface CostPart {
  readonly cost: Money;
  readonly requests: number;
}

export interface LedgerCheck {
  readonly at: number;
  readonly tookMs: number;
  readonly ok: boolean;
  readonly entries: number;
  readonly faults: readonly string[];
  readonly actor: string;
}

/** A version of a price contract. */
export interface ContractRow {
  readonly key: string;
  readonly version: number;
  readonly since: number;
  readonly isCurrent: boolean;
  readonly terms: unknown;
}
// POST /money/verify answers a LedgerCheck.
