import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Problem } from '@reelgate/platform/problem';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import { fromWireProblem } from '@reelgate/platform/rpc/problems';
import type { Client } from '@reelgate/platform/rpc/service';
import { TokenClass } from '@reelgate/proto/billing/v1/token_queue';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import type {
  CallEnd as WireEnd,
  CallOrder as WireOrder,
  CallService,
  CallUsage,
  RefusedCall,
  Remainder,
} from '@reelgate/proto/billing/v1/call_service';
import type { PriceFacts as WireFacts, TokenParts } from '@reelgate/proto/billing/v1/price';
import { incompleteAnswer } from './wire-values.ts';
import type { CallEnd, CallOrder, OrderAnswer, RemainingMoney } from '../domain/call-order.ts';
import type { PriceFacts, Usage } from '../domain/call-usage.ts';

const DEADLINE_MS = 5000;

export type BillingCalls = Client<typeof CallService>;

/** Billing as relayed calls need it: many calls in one request. */
export interface ChargeRequests {
  /** Returns one answer for each order, in their order. */
  reserve(orders: readonly CallOrder[]): Promise<readonly OrderAnswer[]>;
  settle(ends: readonly CallEnd[]): Promise<void>;
}

/** Sends batches of calls as billing's contract defines them. */
export function callsClient(billing: BillingCalls): ChargeRequests {
  return {
    reserve: async (orders) => {
      const { refused, held, heldNanos, remainders, unwrittenBatch } = await billing.placeCalls(
        { calls: orders.map(toWireOrder), refusalsOnly: true, ahead: true },
        { timeoutMs: DEADLINE_MS },
      );
      if (held + refused.length !== orders.length) throw incompleteAnswer();
      const durable = unwrittenBatch === '' ? undefined : confirmBatch(billing, unwrittenBatch);
      const refusals = new Map(refused.map((call) => [call.callId, { refusal: fromWireRefusal(call) }]));
      const remainingByToken = new Map(
        remainders.map((remainder) => [remainder.tokenId, fromWireRemainder(remainder)]),
      );
      return orders.map(
        ({ callId, tokenId }, at) =>
          refusals.get(callId) ?? {
            durable,
            heldNanos: Number(heldNanos[at] ?? 0n),
            remaining: remainingByToken.get(tokenId),
          },
      );
    },
    settle: async (ends) => {
      await billing.settleCalls({ ends: ends.map(toWireEnd), withoutSettlements: true }, { timeoutMs: DEADLINE_MS });
    },
  };
}

/** The disk is slower than a tick of the event loop, in which the calls of the batch are sent first. */
function confirmBatch(billing: BillingCalls, unwrittenBatch: string): Promise<void> {
  const durable = new Promise((resolve) => setImmediate(resolve)).then(async () => {
    await billing.confirmCalls({ unwrittenBatch }, { timeoutMs: DEADLINE_MS });
  });
  // every held call of the batch waits for it, but a batch can be without held calls
  durable.catch(() => undefined);
  return durable;
}

function fromWireRemainder({ accountNanos, tokenNanos }: Remainder): RemainingMoney {
  return { ofAccount: Number(accountNanos), ofToken: tokenNanos === undefined ? undefined : Number(tokenNanos) };
}

function fromWireRefusal({ refusal }: RefusedCall): Problem {
  return refusal === undefined ? incompleteAnswer() : fromWireProblem(refusal);
}

/*
 * The functions below build complete messages, because `create` is too slow for thousands of calls a second: it walks
 * through the descriptors.
 */

function toWireOrder({ callId, accountId, tokenId, priceKeys, facts, lapsesAt, label = '' }: CallOrder): WireOrder {
  return {
    $typeName: 'reelgate.billing.v1.CallOrder',
    callId,
    accountId,
    tokenId,
    priceKeys: [...priceKeys],
    facts: toWireFacts(facts),
    lapsesAt: timestampFromMs(lapsesAt),
    label,
  };
}

/** If one side of the tokens is unknown, both are zero, and billing takes the contract's hold. */
function toWireFacts({ inputTokens, outputTokens, images = 0, characters = 0, searches = 0 }: PriceFacts): WireFacts {
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
    class: TokenClass.UNSPECIFIED,
    choices: [],
    searches: BigInt(searches),
  };
}

const BASES = deriveValues(Basis);

function toWireEnd({ callId, charge, channel = '' }: CallEnd): WireEnd {
  const basis = BASES[charge.basis];
  return 'usage' in charge
    ? { $typeName: 'reelgate.billing.v1.CallEnd', callId, basis, channel, usage: toWireUsage(charge.usage) }
    : { $typeName: 'reelgate.billing.v1.CallEnd', callId, basis, channel };
}

function toWireUsage(usage: Usage): CallUsage {
  const { inputTokens, outputTokens, seconds, images, cachedInputTokens, characters, searches } = usage;
  const wire: CallUsage = { $typeName: 'reelgate.billing.v1.CallUsage' };
  if (inputTokens !== undefined) wire.inputTokens = BigInt(inputTokens);
  if (outputTokens !== undefined) wire.outputTokens = BigInt(outputTokens);
  if (seconds !== undefined) wire.seconds = BigInt(seconds);
  if (images !== undefined) wire.images = BigInt(images);
  if (cachedInputTokens !== undefined) wire.cachedInputTokens = BigInt(cachedInputTokens);
  if (characters !== undefined) wire.characters = BigInt(characters);
  if (searches !== undefined) wire.searches = BigInt(searches);
  if (PARTS.some(([, name]) => usage[name] !== undefined)) wire.parts = toWireParts(usage);
  return wire;
}

type TokenPart = Exclude<keyof TokenParts, `$${string}`>;

const PARTS = Object.entries({
  cacheWrite: 'cacheWriteTokens',
  cacheWrite1h: 'cacheWrite1hTokens',
  audioInput: 'audioInputTokens',
  cachedAudio: 'cachedAudioTokens',
  imageInput: 'imageInputTokens',
  cachedImage: 'cachedImageTokens',
  reasoning: 'reasoningTokens',
  audioOutput: 'audioOutputTokens',
  imageOutput: 'imageOutputTokens',
} as const satisfies Record<TokenPart, keyof Usage>) as readonly (readonly [TokenPart, keyof Usage])[];

function toWireParts(usage: Usage): TokenParts {
  const counts = PARTS.map(([part, name]) => [part, BigInt(usage[name] ?? 0)]);
  return { $typeName: 'reelgate.billing.v1.TokenParts', ...(Object.fromEntries(counts) as Record<TokenPart, bigint>) };
}
