import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Problem } from '@reelgate/platform/problem';
import { fromWireProblem } from '@reelgate/platform/rpc/problems';
import type { Client } from '@reelgate/platform/rpc/service';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import type {
  CallEnd as WireEnd,
  CallOrder as WireOrder,
  CallService,
  CallUsage,
  RefusedCall,
} from '@reelgate/proto/billing/v1/call_service';
import type { PriceFacts as WireFacts } from '@reelgate/proto/billing/v1/price';
import type { CallEnd, CallOrder, Charge, ChargeRequests } from '../relay/charges/call-charges.ts';
import type { PriceFacts, Usage } from '../relay/protocols/protocol.ts';

const DEADLINE_MS = 5000;
const HELD = { refusal: undefined };

export type BillingCalls = Client<typeof CallService>;

/** Sends batches of calls as billing's contract defines them. */
export function callsClient(billing: BillingCalls): ChargeRequests {
  return {
    place: async (orders) => {
      const { refused, held } = await billing.placeCalls(
        { calls: orders.map(toWireOrder), refusalsOnly: true },
        { timeoutMs: DEADLINE_MS },
      );
      if (held + refused.length !== orders.length) throw noAnswer();
      if (refused.length === 0) return orders.map(() => HELD);
      const refusals = new Map(refused.map((call) => [call.callId, { refusal: refusalOf(call) }]));
      return orders.map(({ callId }) => refusals.get(callId) ?? HELD);
    },
    settle: async (ends) => {
      await billing.settleCalls({ ends: ends.map(toWireEnd), withoutSettlements: true }, { timeoutMs: DEADLINE_MS });
    },
  };
}

function refusalOf({ refusal }: RefusedCall): Problem {
  return refusal === undefined ? noAnswer() : fromWireProblem(refusal);
}

function noAnswer(): Problem {
  return new Problem({ kind: 'internal', reason: 'internal_error', message: 'something went wrong here' });
}

/*
 * The functions below build complete messages, because `create` is too slow for thousands of calls a second: it walks
 * through the descriptors.
 */

function toWireOrder({ callId, accountId, tokenId, priceKeys, facts, lapsesAt }: CallOrder): WireOrder {
  return {
    $typeName: 'reelgate.billing.v1.CallOrder',
    callId,
    accountId,
    tokenId,
    priceKeys: [...priceKeys],
    facts: toWireFacts(facts),
    lapsesAt: timestampFromMs(lapsesAt),
  };
}

/** If one side of the tokens is unknown, both are zero; billing then takes the contract's hold. */
function toWireFacts({ inputTokens, outputTokens, images = 0, characters = 0 }: PriceFacts): WireFacts {
  const known = inputTokens !== undefined && outputTokens !== undefined;
  return {
    $typeName: 'reelgate.billing.v1.PriceFacts',
    priceKey: '',
    resolution: '',
    seconds: 0n,
    inputVideoSeconds: 0n,
    images: BigInt(images),
    inputTokens: BigInt(known ? inputTokens : 0),
    outputTokens: BigInt(known ? outputTokens : 0),
    characters: BigInt(characters),
  };
}

const BASES: Readonly<Record<Charge['basis'], Basis>> = {
  usage: Basis.USAGE,
  estimate: Basis.ESTIMATE,
  hold: Basis.HOLD,
  released: Basis.RELEASED,
};

function toWireEnd({ callId, charge }: CallEnd): WireEnd {
  const basis = BASES[charge.basis];
  return 'usage' in charge
    ? { $typeName: 'reelgate.billing.v1.CallEnd', callId, basis, usage: toWireUsage(charge.usage) }
    : { $typeName: 'reelgate.billing.v1.CallEnd', callId, basis };
}

function toWireUsage({ inputTokens, outputTokens, seconds, images, cachedInputTokens, characters }: Usage): CallUsage {
  const wire: CallUsage = { $typeName: 'reelgate.billing.v1.CallUsage' };
  if (inputTokens !== undefined) wire.inputTokens = BigInt(inputTokens);
  if (outputTokens !== undefined) wire.outputTokens = BigInt(outputTokens);
  if (seconds !== undefined) wire.seconds = BigInt(seconds);
  if (images !== undefined) wire.images = BigInt(images);
  if (cachedInputTokens !== undefined) wire.cachedInputTokens = BigInt(cachedInputTokens);
  if (characters !== undefined) wire.characters = BigInt(characters);
  return wire;
}
