import { deriveValues, deriveWords } from '@reelgate/platform/rpc/enum-words';
import type { WholeMessage } from '@reelgate/platform/rpc/service';
import type { EveryField } from '@reelgate/platform/rpc/whole-message';
import { requireField } from '@reelgate/platform/rpc/rules';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { TokenClass } from '@reelgate/proto/billing/v1/token_queue';
import type {
  ChargeSchema,
  Hold as WireHold,
  LedgerLineSchema,
  SettlementSchema,
  UpstreamCostSchema,
} from '@reelgate/proto/billing/v1/hold';
import type { PriceFacts as WirePriceFacts, QuoteSchema } from '@reelgate/proto/billing/v1/price';
import type { Hold, HoldRecord, Settlement } from '../domain/hold.ts';
import type { LedgerLine } from '../domain/ledger.ts';
import type { PriceClass } from '../domain/price-class.ts';
import type { PriceFacts } from '../domain/price.ts';
import type { PricedWork, Quote } from '../operations/prices/prices.ts';
import type { Charge } from '../store/holds/hold-store.ts';

const BASES = deriveValues(Basis);

export function fromWireFacts(facts: WirePriceFacts | undefined): PriceFacts {
  const { priceKey, resolution, seconds, inputVideoSeconds, images, inputTokens, outputTokens, characters, searches } =
    requireField(facts, 'facts');
  return {
    priceKey,
    resolution,
    seconds,
    inputVideoSeconds,
    images,
    inputTokens,
    cachedInputTokens: 0n,
    outputTokens,
    characters,
    searches,
  };
}

const CLASSES = deriveWords(TokenClass);

export function fromWireClass(ofClass: TokenClass): PriceClass | undefined {
  return CLASSES[ofClass];
}

interface WireWork {
  readonly accountId: string;
  readonly facts?: WirePriceFacts | undefined;
  readonly currency?: string;
}

export function fromWireWork({ accountId, facts, currency = '' }: WireWork): PricedWork {
  const priceClass = fromWireClass(facts?.class ?? TokenClass.UNSPECIFIED);
  return {
    accountId,
    facts: fromWireFacts(facts),
    priceClass,
    choices: facts?.choices,
    currency: currency === '' ? undefined : currency,
  };
}

function toWireFacts(facts: PriceFacts): WirePriceFacts {
  const { priceKey, resolution, seconds, inputVideoSeconds, images, inputTokens, outputTokens, characters, searches } =
    facts;
  return {
    $typeName: 'reelgate.billing.v1.PriceFacts',
    priceKey,
    resolution,
    seconds,
    inputVideoSeconds,
    images,
    inputTokens,
    outputTokens,
    characters,
    class: TokenClass.UNSPECIFIED,
    searches,
    choices: [],
  } satisfies EveryField<WirePriceFacts>;
}

export function toWireHold(hold: Hold): WireHold {
  const { taskId, accountId, tokenId, amount, currency, facts, priceVersion, placedAt, maxAmount, label = '' } = hold;
  return {
    $typeName: 'reelgate.billing.v1.Hold',
    taskId,
    accountId,
    tokenId,
    amountNanos: amount,
    currency,
    contract: facts.priceKey,
    version: priceVersion,
    facts: toWireFacts(facts),
    placedAt: timestampFromMs(placedAt),
    label,
    maxAmountNanos: maxAmount,
  } satisfies EveryField<WireHold>;
}

export function toWireSettlement({ amount, basis, at }: Settlement): WholeMessage<typeof SettlementSchema> {
  return { amountNanos: amount, basis: BASES[basis], settledAt: timestampFromMs(at) };
}

/** A member of an answer to operators; empty if no cost is known. */
export function toWireUpstreamCost(record: HoldRecord): {
  readonly upstreamCost?: WholeMessage<typeof UpstreamCostSchema>;
} {
  if (record.state !== 'ended') return {};
  const { reportedMicroUsd, estimated } = record.cost;
  if (reportedMicroUsd === undefined && estimated === undefined) return {};
  return {
    upstreamCost: {
      ...(reportedMicroUsd === undefined ? {} : { reportedMicroUsd }),
      ...(estimated === undefined ? {} : { estimatedNanos: estimated }),
    },
  };
}

export function toWireCharge({ held, end, wanted, ...charge }: Charge): WholeMessage<typeof ChargeSchema> {
  if (end === undefined) return { ...charge, heldNanos: held, basis: Basis.UNSPECIFIED };
  const basis = BASES[end.basis];
  if (end.basis !== 'deferred') return { ...charge, heldNanos: held, chargedNanos: end.amount, basis };
  return { ...charge, heldNanos: held, basis, ...(wanted === undefined ? {} : { deferredNanos: wanted }) };
}

export function toWireLine({ eventKey, book, amount, at }: LedgerLine): WholeMessage<typeof LedgerLineSchema> {
  return { eventKey, book, amountNanos: amount, at: timestampFromMs(at) };
}

export function toWireQuote(quote: Quote): WholeMessage<typeof QuoteSchema> {
  const { amount, currency, contract, version, leastBound } = quote;
  const bound = leastBound === undefined ? {} : { maxAmountNanos: leastBound };
  return { amountNanos: amount, currency, contract, version, ...bound };
}
