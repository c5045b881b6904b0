import type { Clock } from '@reelgate/platform/clock';
import { newCallLists } from '@reelgate/platform/rpc/call-lists';
import type { CallLists, ListedCall, Outcome } from '@reelgate/platform/rpc/call-lists';
import { fromWireProblem } from '@reelgate/platform/rpc/problems';
import type { Client } from '@reelgate/platform/rpc/service';
import type { EveryField } from '@reelgate/platform/rpc/whole-message';
import { BillingService } from '@reelgate/proto/billing/v1/billing_service';
import type { HoldOrder, HoldPlacement, PlaceHoldRequest } from '@reelgate/proto/billing/v1/billing_service';
import type { Hold } from '@reelgate/proto/billing/v1/hold';

/** The most holds of one call; billing refuses more. */
const LIST_MAX = 64;
/** Calls at the same time. One that waits for a row of billing's database does not hold all others up. */
const CONCURRENCY = 8;

/**
 * Places holds. Those that are asked for at the same moment go to billing in one call. A list goes on while one caller
 * waits: the create of one that has left releases its hold, as it does after every call without an answer.
 */
export type HoldLists = CallLists<PlaceHoldRequest, Hold | undefined>;

export function newHoldLists(rpc: Client<typeof BillingService>, clock: Clock): HoldLists {
  return newCallLists({
    method: BillingService.method.placeHold,
    clock,
    listMax: LIST_MAX,
    listsMax: CONCURRENCY,
    whenFull: 'wait',
    callAlone: async (request, options) => (await rpc.placeHold(request, options)).hold,
    callTogether: async (calls, options, settle) => {
      const orders = calls.map(toWireOrder);
      const { placements } = await rpc.placeHolds({ orders }, options);
      for (const [index, placement] of placements.entries()) settle(index, fromPlacement(placement));
    },
  });
}

function toWireOrder({ request: hold, requestId, traceParent }: ListedCall<PlaceHoldRequest>): HoldOrder {
  return { $typeName: 'reelgate.billing.v1.HoldOrder', hold, requestId, traceParent } satisfies EveryField<HoldOrder>;
}

function fromPlacement({ result }: HoldPlacement): Outcome<Hold> {
  if (result.case === 'held') return { answer: result.value };
  return { refusal: result.case === 'refusal' ? fromWireProblem(result.value) : new Error('a hold has no outcome') };
}
