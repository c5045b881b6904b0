import type { MessageInitShape } from '@bufbuild/protobuf';
import { requiredField } from '@reelgate/platform/rpc/required-field';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { AccountSchema, TokenSchema } from '@reelgate/proto/billing/v1/account_service';
import type { PrincipalSchema } from '@reelgate/proto/billing/v1/billing_service';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import type { HoldSchema, LedgerLineSchema, SettlementSchema } from '@reelgate/proto/billing/v1/hold';
import type {
  PriceContractSchema,
  PriceFacts as WirePriceFacts,
  PriceFactsSchema,
  QuoteSchema,
} from '@reelgate/proto/billing/v1/price';
import type { TokenLimits as WireLimits, TokenLimitsSchema } from '@reelgate/proto/billing/v1/token_limits';
import { WebhookRight as WireRight } from '@reelgate/proto/billing/v1/webhook_right';
import type { Account } from '../domain/account.ts';
import type { Hold, Settlement } from '../domain/hold.ts';
import type { LedgerLine } from '../domain/ledger.ts';
import type { PriceFacts } from '../domain/price.ts';
import { NO_LIMITS } from '../domain/token.ts';
import type { Token, TokenLimits, WebhookRight } from '../domain/token.ts';
import type { Quote } from '../operations/prices/quote-price.ts';
import type { StoredContract } from '../store/prices/price-store.ts';

const BASES: Readonly<Record<Settlement['basis'], Basis>> = {
  usage: Basis.USAGE,
  estimate: Basis.ESTIMATE,
  hold: Basis.HOLD,
  released: Basis.RELEASED,
  deferred: Basis.DEFERRED,
};

const WEBHOOK_RIGHTS: Readonly<Record<WireRight, WebhookRight>> = {
  [WireRight.UNSPECIFIED]: 'write',
  [WireRight.WRITE]: 'write',
  [WireRight.READ]: 'read',
  [WireRight.NONE]: 'none',
};
const WIRE_RIGHTS: Readonly<Record<WebhookRight, WireRight>> = {
  write: WireRight.WRITE,
  read: WireRight.READ,
  none: WireRight.NONE,
};

export function fromWireFacts(facts: WirePriceFacts | undefined): PriceFacts {
  const { priceKey, resolution, seconds, inputVideoSeconds, images, inputTokens, outputTokens, characters } =
    requiredField(facts, 'facts');
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
  };
}

function toWireFacts({ cachedInputTokens: _unknown, ...facts }: PriceFacts): MessageInitShape<typeof PriceFactsSchema> {
  return facts;
}

export function fromWireTime(time: Timestamp | undefined): number | undefined {
  return time === undefined ? undefined : timestampMs(time);
}

export function toWireHold(hold: Hold): MessageInitShape<typeof HoldSchema> {
  const { taskId, accountId, tokenId, amount, currency, facts, priceVersion, placedAt } = hold;
  return {
    taskId,
    accountId,
    tokenId,
    amountNanos: amount,
    currency,
    contract: facts.priceKey,
    version: priceVersion,
    facts: toWireFacts(facts),
    placedAt: timestampFromMs(placedAt),
  };
}

export function toWireSettlement({ amount, basis, at }: Settlement): MessageInitShape<typeof SettlementSchema> {
  return { amountNanos: amount, basis: BASES[basis], settledAt: timestampFromMs(at) };
}

export function toWireLine({ eventKey, book, amount, at }: LedgerLine): MessageInitShape<typeof LedgerLineSchema> {
  return { eventKey, book, amountNanos: amount, at: timestampFromMs(at) };
}

export function toWireQuote({ amount, currency, contract, version }: Quote): MessageInitShape<typeof QuoteSchema> {
  return { amountNanos: amount, currency, contract, version };
}

export function toWireContract({
  key,
  version,
  terms,
  since,
  isCurrent,
}: StoredContract): MessageInitShape<typeof PriceContractSchema> {
  return { key, version, termsJson: JSON.stringify(terms), sinceMs: BigInt(since), current: isCurrent };
}

/** Zero means the configured number. */
export function fromWireLimits(limits: WireLimits | undefined): TokenLimits {
  if (limits === undefined) return NO_LIMITS;
  const { createsPerMinute, readsPerMinute, callsPerMinute, inFlight } = limits;
  return {
    createsPerMinute: createsPerMinute || undefined,
    readsPerMinute: readsPerMinute || undefined,
    callsPerMinute: callsPerMinute || undefined,
    inFlight: inFlight || undefined,
  };
}

export function fromWireRight(right: WireRight): WebhookRight {
  return WEBHOOK_RIGHTS[right];
}

function toWireLimits({
  createsPerMinute = 0,
  readsPerMinute = 0,
  callsPerMinute = 0,
  inFlight = 0,
}: TokenLimits): MessageInitShape<typeof TokenLimitsSchema> {
  return { createsPerMinute, readsPerMinute, callsPerMinute, inFlight };
}

export function toWirePrincipal({
  id,
  accountId,
  models,
  expiresAt,
  limits,
  webhooks,
}: Token): MessageInitShape<typeof PrincipalSchema> {
  return {
    accountId,
    tokenId: id,
    models: [...models],
    limits: toWireLimits(limits),
    webhooks: WIRE_RIGHTS[webhooks],
    ...optionalTime('expiresAt', expiresAt),
  };
}

export function toWireAccount({ id, currency, balance, held }: Account): MessageInitShape<typeof AccountSchema> {
  return { id, currency, balanceNanos: balance, heldNanos: held };
}

export function toWireToken({
  id,
  accountId,
  name,
  models,
  limit,
  used,
  createdAt,
  expiresAt,
  revokedAt,
  limits,
  webhooks,
}: Token): MessageInitShape<typeof TokenSchema> {
  return {
    id,
    accountId,
    name,
    models: [...models],
    usedNanos: used,
    createdAt: timestampFromMs(createdAt),
    limits: toWireLimits(limits),
    webhooks: WIRE_RIGHTS[webhooks],
    ...(limit === undefined ? {} : { limitNanos: limit }),
    ...optionalTime('expiresAt', expiresAt),
    ...optionalTime('revokedAt', revokedAt),
  };
}

function optionalTime<N extends string>(name: N, ms: number | undefined): { readonly [K in N]?: Timestamp } {
  return (ms === undefined ? {} : { [name]: timestampFromMs(ms) }) as { readonly [K in N]?: Timestamp };
}
