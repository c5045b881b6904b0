import { deriveValues, deriveWords } from '@reelgate/platform/rpc/enum-words';
import type { WholeMessage } from '@reelgate/platform/rpc/service';
import type { EveryField } from '@reelgate/platform/rpc/whole-message';
import { requireField } from '@reelgate/platform/rpc/rules';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import { Basis, UpstreamCostSchema } from '@reelgate/proto/billing/v1/hold';
import { TokenClass } from '@reelgate/proto/billing/v1/token_queue';
import type { Hold as WireHold, SettlementSchema, UpstreamCost } from '@reelgate/proto/billing/v1/hold';
import type { PriceFacts as WirePriceFacts, QuoteSchema } from '@reelgate/proto/billing/v1/price';
import type { Hold, HoldRecord, Settlement } from '../domain/hold.ts';
import type { PriceClass } from '../domain/price-class.ts';
import type { PriceFacts } from '../domain/price.ts';
import type { PricedWork, Quote } from '../operations/prices/prices.ts';

const BASES = deriveValues(Basis);

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
    facts: requireField(facts, 'facts'),
    priceClass,
    choices: facts?.choices,
    currency: currency === '' ? undefined : currency,
  };
}

/** The contract of a hold has no class and no choices: its key names it. */
function toWireFacts(facts: PriceFacts): WirePriceFacts {
  const { cachedInputTokens: _cached, parts: _parts, ...frozen } = facts;
  return { ...frozen, $typeName: 'reelgate.billing.v1.PriceFacts', class: TokenClass.UNSPECIFIED, choices: [] };
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

/** Returns undefined if no cost is known. */
export function toWireUpstreamCost(record: HoldRecord): UpstreamCost | undefined {
  if (record.state !== 'ended') return undefined;
  const { reportedMicroUsd, estimated: estimatedNanos } = record.cost;
  if (reportedMicroUsd === undefined && estimatedNanos === undefined) return undefined;
  return toMessage(UpstreamCostSchema, { reportedMicroUsd, estimatedNanos });
}

export function toWireQuote(quote: Quote): WholeMessage<typeof QuoteSchema> {
  const { amount, currency, contract, version, leastBound } = quote;
  const bound = leastBound === undefined ? {} : { maxAmountNanos: leastBound };
  return { amountNanos: amount, currency, contract, version, ...bound };
}
