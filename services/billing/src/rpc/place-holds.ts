import { create } from '@bufbuild/protobuf';
import { inRequest, inTrace, readRequestId } from '@reelgate/platform/request-context';
import { callSpans, runInCallSpan } from '@reelgate/platform/rpc/call-span';
import { isFault, toProblem, toWireProblem } from '@reelgate/platform/rpc/problems';
import { compileRuleCheck } from '@reelgate/platform/rpc/rules';
import type { EveryField } from '@reelgate/platform/rpc/service';
import type { TraceContinuer } from '@reelgate/platform/trace/trace';
import { BillingService, PlaceHoldRequestSchema } from '@reelgate/proto/billing/v1/billing_service';
import type { HoldOrder, HoldPlacement, PlaceHoldRequest } from '@reelgate/proto/billing/v1/billing_service';
import type { Hold } from '../domain/hold.ts';
import type { BillingDeps } from '../operations/deps.ts';
import { placeHold } from '../operations/holds/place-hold.ts';
import { fromWireWork, toWireHold } from './billing-mapping.ts';

/** The rules of one hold. The server checks the rules of the list. */
const assertRules = compileRuleCheck(PlaceHoldRequestSchema);
const NO_HOLD = create(PlaceHoldRequestSchema);
/** Each hold has the span that a call of its own has. */
const beginCallSpan = callSpans(BillingService.method.placeHold, 'server');

export function placeRequestedHold(deps: BillingDeps, request: PlaceHoldRequest, signal: AbortSignal): Promise<Hold> {
  const { taskId, tokenId, maxAmountNanos: maxAmount, label, ...work } = request;
  return placeHold(deps, { ...fromWireWork(work), taskId, tokenId, maxAmount, label: label || undefined }, signal);
}

/** Places one hold of a list, with the refusal, the request and the span that a call for it alone would have. */
export async function placeListedHold(
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
