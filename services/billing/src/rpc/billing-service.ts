import { Scope } from '@reelgate/proto/access/v1/access';
import { BillingService, PlaceHoldRequestSchema } from '@reelgate/proto/billing/v1/billing_service';
import type { HoldOrder, HoldPlacement, PlaceHoldRequest } from '@reelgate/proto/billing/v1/billing_service';
import { assertOwner } from '@reelgate/platform/rpc/access';
import { bind } from '@reelgate/platform/rpc/service';
import type { Binding } from '@reelgate/platform/rpc/service';
import type { EveryField } from '@reelgate/platform/rpc/whole-message';
import type { TraceContinuer } from '@reelgate/platform/trace/trace';
import { create } from '@bufbuild/protobuf';
import { inRequest, inTrace, readRequestId } from '@reelgate/platform/request-context';
import { callSpans, runInCallSpan } from '@reelgate/platform/rpc/call-span';
import { isFault, toProblem, toWireProblem } from '@reelgate/platform/rpc/problems';
import { compileRuleCheck, requireField } from '@reelgate/platform/rpc/rules';
import { authenticate, findPrincipal } from '../operations/tokens/read-tokens.ts';
import { checkHold, extendHold, placeHold } from '../operations/holds/place-hold.ts';
import type { BillingDeps } from '../operations/deps.ts';
import { readPriceSheets, quotePrice } from '../operations/prices/prices.ts';
import { inSettleSpan, precludeHold, releaseHold, settleHold } from '../operations/holds/end-hold.ts';
import { unknownHold } from '../billing-refusals.ts';
import { readSettlement } from '../domain/hold.ts';
import type { Hold } from '../domain/hold.ts';
import {
  fromWireClass,
  fromWireWork,
  toWireHold,
  toWireQuote,
  toWireSettlement,
  toWireUpstreamCost,
} from './billing-mapping.ts';
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
      hold: toWireHold(await extendHold(deps, taskId, requireField(facts, 'facts'))),
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
      charges: [...(await deps.holds.charges(taskIds, accountId || undefined))],
    }),
    getHold: async ({ taskId }, { caller }) => {
      const [record, lines] = await Promise.all([deps.holds.find(taskId), deps.holds.lines(taskId)]);
      assertOwner(
        caller,
        record === undefined || record.state === 'void' ? undefined : record.hold.accountId,
        'task_id',
      );
      if (record === undefined) throw unknownHold();
      const settlement = readSettlement(record);
      const cost = caller.scopes.has(Scope.OPERATOR) ? toWireUpstreamCost(record) : undefined;
      return {
        ...(record.state === 'void' ? {} : { hold: toWireHold(record.hold) }),
        ...(settlement === undefined ? {} : { settlement: toWireSettlement(settlement) }),
        lines: [...lines],
        ...(record.state === 'open' && record.deferral?.wanted !== undefined
          ? { deferredAmountNanos: record.deferral.wanted }
          : {}),
        ...(cost === undefined ? {} : { upstreamCost: cost }),
      };
    },
  });
}

/** The rules of one hold. The server checks the rules of the list. */
const assertRules = compileRuleCheck(PlaceHoldRequestSchema);
const NO_HOLD = create(PlaceHoldRequestSchema);
/** Each hold has the span that a call of its own has. */
const beginCallSpan = callSpans(BillingService.method.placeHold, 'server');

function placeRequestedHold(deps: BillingDeps, request: PlaceHoldRequest, signal: AbortSignal): Promise<Hold> {
  const { taskId, tokenId, maxAmountNanos: maxAmount, label, ...work } = request;
  return placeHold(deps, { ...fromWireWork(work), taskId, tokenId, maxAmount, label: label || undefined }, signal);
}

/** Places one hold of a list, with the refusal, the request and the span that a call for it alone would have. */
async function placeListedHold(
  deps: BillingDeps,
  { hold: request = NO_HOLD, requestId, traceParent }: HoldOrder,
  { signal, tracing }: { readonly signal: AbortSignal; readonly tracing: TraceContinuer },
): Promise<HoldPlacement> {
  const place = (): Promise<Hold> =>
    runInCallSpan(beginCallSpan(tracing.enter(traceParent === '' ? undefined : traceParent)), (span) =>
      inTrace(span.traceId, async () => {
        assertRules(request);
        return placeRequestedHold(deps, request, signal);
      }),
    );
  return inRequest(readRequestId(requestId), async () => {
    try {
      return toPlacement({ case: 'held', value: toWireHold(await place()) });
    } catch (thrown) {
      if (isFault(thrown)) deps.log.error({ taskId: request.taskId, err: thrown }, 'a hold of a list failed');
      return toPlacement({ case: 'refusal', value: toWireProblem(toProblem(thrown)) });
    }
  });
}

function toPlacement(result: HoldPlacement['result']): HoldPlacement {
  return { $typeName: 'reelgate.billing.v1.HoldPlacement', result } satisfies EveryField<HoldPlacement>;
}
