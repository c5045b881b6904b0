import type { Money } from './money.ts';
import type { ContractRow, LedgerCheck } from '../../src/domain/operator-records.ts';

export type { ContractRow, LedgerCheck } from '../../src/domain/operator-records.ts';

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
// POST /money/verify answers a LedgerCheck.
