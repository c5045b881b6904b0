import { Scope } from '@reelgate/proto/access/v1/access';
import { BillingService } from '@reelgate/proto/billing/v1/billing_service';
import { assertOwner } from '@reelgate/platform/rpc/access';
import { bind } from '@reelgate/platform/rpc/service';
import type { Binding } from '@reelgate/platform/rpc/service';
import type { TraceContinuer } from '@reelgate/platform/trace/trace';
import { authenticate } from '../operations/tokens/authenticate.ts';
import { checkHold } from '../operations/holds/place-hold.ts';
import type { BillingDeps } from '../operations/deps.ts';
import { extendHold } from '../operations/holds/extend-hold.ts';
import { findPrincipal } from '../operations/tokens/authenticate.ts';
import { getHold } from '../operations/holds/get-hold.ts';
import { readPriceSheets } from '../operations/prices/read-price-sheets.ts';
import { quotePrice } from '../operations/prices/quote-price.ts';
import { inSettleSpan } from '../operations/holds/settle-hold.ts';
import { precludeHold } from '../operations/holds/release-hold.ts';
import { releaseHold } from '../operations/holds/release-hold.ts';
import { settleHold } from '../operations/holds/settle-hold.ts';
import { readSettlement } from '../domain/hold.ts';
import {
  fromWireFacts,
  fromWireClass,
  fromWireWork,
  toWireCharge,
  toWireHold,
  toWireLine,
  toWireQuote,
  toWireSettlement,
  toWireUpstreamCost,
} from './billing-mapping.ts';
import { placeListedHold, placeRequestedHold } from './place-holds.ts';
import { toWirePrincipal } from './token-mapping.ts';

/** Decodes, runs the operation, encodes. */
export function billingService(deps: BillingDeps, tracing: TraceContinuer): Binding {
  return bind(BillingService, {
    authenticate: async ({ key }) => ({ principal: toWirePrincipal(await authenticate(deps, key)) }),
    getPrincipal: async ({ tokenId }) => ({
      principal: toWirePrincipal(await findPrincipal(deps, tokenId)),
    }),
    quotePrice: async (request) => ({ quote: toWireQuote(await quotePrice(deps, fromWireWork(request))) }),
    listUnitPrices: ({ accountId, queries, class: ofClass }) =>
      readPriceSheets(deps, accountId, { queries, priceClass: fromWireClass(ofClass) }),
    checkHold: async ({ tokenId, maxAmountNanos: maxAmount, ...request }) => {
      await checkHold(deps, { ...fromWireWork(request), tokenId, maxAmount });
      return {};
    },
    placeHold: async (request, { signal }) => ({ hold: toWireHold(await placeRequestedHold(deps, request, signal)) }),
    placeHolds: async ({ orders }, { signal }) => ({
      placements: await Promise.all(orders.map((order) => placeListedHold(deps, order, { signal, tracing }))),
    }),
    extendHold: async ({ taskId, facts }) => ({
      hold: toWireHold(await extendHold(deps, taskId, fromWireFacts(facts))),
    }),
    releaseHold: async ({ taskId, upstreamCostMicroUsd, channel }, { span }) => {
      const request = { taskId, upstreamCostMicroUsd, channel: channel || undefined };
      return { settlement: toWireSettlement(await inSettleSpan(span, () => releaseHold(deps, request))) };
    },
    precludeHold: async ({ taskId }) => ({ precluded: await precludeHold(deps, taskId) }),
    settleHold: async ({ totalSeconds, inputTokens, outputTokens, channel, ...rest }, { span }) => {
      const { taskId, confirmed, upstreamCostMicroUsd } = rest;
      const usage = { seconds: totalSeconds, inputTokens, outputTokens };
      const by = { channel: channel || undefined, upstreamCostMicroUsd };
      const request = { taskId, confirmed, usage, mayRepeat: true, ...by };
      const settlement = await inSettleSpan(span, () => settleHold(deps, request));
      return { settlement: toWireSettlement(settlement) };
    },
    listCharges: async ({ accountId, taskIds }) => ({
      charges: (await deps.holds.charges(taskIds, accountId || undefined)).map(toWireCharge),
    }),
    getHold: async ({ taskId }, { caller }) => {
      const { record, lines } = await getHold(deps, taskId, (accountId) => {
        assertOwner(caller, accountId, 'task_id');
      });
      const settlement = readSettlement(record);
      return {
        ...(record.state === 'void' ? {} : { hold: toWireHold(record.hold) }),
        ...(settlement === undefined ? {} : { settlement: toWireSettlement(settlement) }),
        lines: lines.map(toWireLine),
        ...(record.state === 'open' && record.deferral?.wanted !== undefined
          ? { deferredAmountNanos: record.deferral.wanted }
          : {}),
        ...(caller.scopes.has(Scope.OPERATOR) ? toWireUpstreamCost(record) : {}),
      };
    },
  });
}
