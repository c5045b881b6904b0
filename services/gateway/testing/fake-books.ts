import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { Problem } from '@reelgate/platform/problem';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import type { Client } from '@reelgate/platform/rpc/service';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { partialService } from '@reelgate/platform/testing/partial-service';
import { AccountService } from '@reelgate/proto/billing/v1/account_service';
import { BillingService, GetHoldResponseSchema } from '@reelgate/proto/billing/v1/billing_service';
import { PriceUnit } from '@reelgate/proto/billing/v1/price';
import type { PriceSheetSchema } from '@reelgate/proto/billing/v1/price';
import type { GetHoldResponse } from '@reelgate/proto/billing/v1/billing_service';

/** The money of accounts and tasks, in memory. Each account has 100 and holds 3. */
export interface FakeBooks {
  readonly billing: Pick<Client<typeof BillingService>, 'getHold' | 'getPrincipal' | 'listCharges' | 'listUnitPrices'>;
  readonly accounts: Client<typeof AccountService>;
  readonly holds: Map<string, GetHoldResponse>;
  /** The names of tokens of `demo`. */
  readonly tokenNames: Map<string, string>;
  /** Thrown by every call, while it is set. */
  fault: Error | undefined;
  addHold(hold: MessageInitShape<typeof GetHoldResponseSchema>): void;
}

const CONTRACT = { key: 'Alpha-H3', version: 1, termsJson: '{"per_second":{"768P":"0.08"}}', current: true };

/** Eight cents for a second, at every resolution. */
function aSheet(priceKey: string, resolutions: string[]): MessageInitShape<typeof PriceSheetSchema> {
  const prices = (resolutions.length === 0 ? [''] : resolutions).map((resolution) => ({
    unit: PriceUnit.OUTPUT_SECOND,
    resolution,
    amountNanos: 80_000_000n,
  }));
  return { priceKey, priced: true, resolutions, prices };
}

export function fakeBooks(): FakeBooks {
  const holds = new Map<string, GetHoldResponse>();
  const tokenNames = new Map<string, string>();
  const state: Pick<FakeBooks, 'fault'> = { fault: undefined };
  const called = (): void => {
    if (state.fault !== undefined) throw state.fault;
  };
  const billing = partialService(BillingService, {
    getHold: async ({ taskId }) => {
      called();
      const found = holds.get(taskId);
      if (found !== undefined) return found;
      throw new Problem({ kind: 'not_found', reason: 'hold_not_found', message: 'this task has no hold' });
    },
    listCharges: async ({ accountId, taskIds }) => {
      called();
      const charges = [...holds.values()].flatMap(({ hold, settlement }) =>
        hold?.accountId === accountId && taskIds.includes(hold.taskId)
          ? [
              {
                taskId: hold.taskId,
                accountId,
                heldNanos: hold.amountNanos,
                currency: hold.currency,
                ...(settlement === undefined ? {} : { chargedNanos: settlement.amountNanos, basis: settlement.basis }),
              },
            ]
          : [],
      );
      return { charges };
    },
    listUnitPrices: async ({ queries }) => {
      called();
      return { currency: 'USD', sheets: queries.map(({ priceKey, resolutions }) => aSheet(priceKey, resolutions)) };
    },
    getPrincipal: async ({ tokenId }) => {
      called();
      return { principal: { accountId: 'demo', tokenId, name: tokenNames.get(tokenId) ?? '' } };
    },
  });
  const accounts = partialService(AccountService, {
    getAccount: async ({ id }) => {
      called();
      return { account: { id, currency: 'USD', balanceNanos: 100_000_000_000n, heldNanos: 3_000_000_000n } };
    },
    listPrices: async () => {
      called();
      return { contracts: [CONTRACT] };
    },
  });
  return Object.assign(state, {
    billing: directClient(BillingService, billing, aCaller()),
    accounts: directClient(AccountService, accounts, aCaller()),
    holds,
    tokenNames,
    addHold: (hold: MessageInitShape<typeof GetHoldResponseSchema>) => {
      const made = create(GetHoldResponseSchema, hold);
      holds.set(made.hold?.taskId ?? '', made);
    },
  });
}
