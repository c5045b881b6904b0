import { Problem } from '@reelgate/platform/problem';
import type { Billing, ChargeReader } from '../src/clients/billing.ts';
import type { PriceFacts } from '../src/domain/price-facts.ts';
import type { Usage } from '../src/domain/task.ts';

export interface FakeHold {
  readonly label?: string | undefined;
  readonly state: 'held' | 'released' | 'settled';
  readonly facts?: PriceFacts | undefined;
  readonly usage?: Usage | undefined;
}

/** A fake of billing with one hold per task. Each hold ends once. */
export interface FakeBilling {
  readonly port: Billing;
  readonly charges: ChargeReader;
  readonly holds: ReadonlyMap<string, FakeHold>;
  /** Price keys without a contract. */
  readonly unpriced: Set<string>;
  /** Tasks whose usage is far above their hold. */
  readonly overrun: Set<string>;
  /** Whether the balance covers another hold. */
  funded: boolean;
}

const NO_PRICE = new Problem({ kind: 'invalid', reason: 'model_price_error', message: 'there is no price for this' });
const NO_QUOTA = new Problem({
  kind: 'exhausted',
  reason: 'insufficient_quota',
  message: 'the balance does not cover this',
});

const ABOVE_MAX = new Problem({
  kind: 'unprocessable',
  reason: 'price_above_max',
  field: 'max_amount_nanos',
  message: 'is too little for this',
});

const amountOf = ({ seconds }: PriceFacts): bigint => BigInt(seconds) * 80_000_000n;

export function fakeBilling(): FakeBilling {
  const holds = new Map<string, FakeHold>();
  const assertPriced = ({ priceKey }: PriceFacts): void => {
    if (billing.unpriced.has(priceKey)) throw NO_PRICE;
  };
  const billing: FakeBilling = {
    holds,
    unpriced: new Set(),
    overrun: new Set(),
    funded: true,
    charges: {
      listFinalCharges: async (ids) =>
        new Map(
          ids.flatMap((id) => {
            const { state = 'held', facts } = holds.get(id) ?? {};
            if (state === 'held') return [];
            const nanos = state === 'settled' && facts !== undefined ? amountOf(facts) : 0n;
            return [[id, { nanos, currency: 'USD' }]];
          }),
        ),
    },
    port: {
      quote: async (_accountId, facts) => {
        assertPriced(facts);
        return {
          amountNanos: amountOf(facts),
          currency: 'USD',
          contract: facts.priceKey,
          version: 1,
          maxAmountNanos: amountOf(facts),
        };
      },
      checkHold: async ({ facts }) => {
        assertPriced(facts);
        if (!billing.funded) throw NO_QUOTA;
      },
      placeHold: async ({ taskId, facts, label, maxAmountNanos }) => {
        assertPriced(facts);
        if (maxAmountNanos !== undefined && amountOf(facts) > maxAmountNanos) throw ABOVE_MAX;
        if (!billing.funded) throw NO_QUOTA;
        if ((holds.get(taskId)?.state ?? 'held') !== 'held')
          throw new Problem({ kind: 'conflict', reason: 'hold_voided', message: 'this hold has been released' });
        holds.set(taskId, { state: 'held', facts, label });
        return { contract: facts.priceKey };
      },
      extendHold: async (taskId, facts) => {
        if (!billing.funded) throw NO_QUOTA;
        holds.set(taskId, { state: 'held', facts });
      },
      releaseHold: async (taskId) => {
        const hold = holds.get(taskId);
        if (hold?.state === 'settled') return 'charged';
        holds.set(taskId, { ...hold, state: 'released' });
        return 'released';
      },
      precludeHold: async (taskId) => {
        if (holds.has(taskId)) return false;
        holds.set(taskId, { state: 'released' });
        return true;
      },
      settle: async (taskId, usage, { confirmed = false } = {}) => {
        const hold = holds.get(taskId);
        if (hold?.state === 'held' && billing.overrun.has(taskId) && !confirmed) return 'deferred';
        if (hold?.state === 'released') return 'released';
        if (hold?.state === 'held') holds.set(taskId, { ...hold, state: 'settled', usage });
        return 'settled';
      },
      findEnded: async (taskIds) => new Set(taskIds.filter((id) => (holds.get(id)?.state ?? 'held') !== 'held')),
    },
  };
  return billing;
}
