import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Span } from '@reelgate/platform/trace/trace';
import { deriveWords } from '@reelgate/platform/rpc/enum-words';
import type { EnumWord } from '@reelgate/platform/rpc/enum-words';
import type { Client } from '@reelgate/platform/rpc/service';
import type { BillingService } from '@reelgate/proto/billing/v1/billing_service';
import type { TokenLimits } from '@reelgate/proto/billing/v1/token_limits';
import { TokenRight as WireTokenRight } from '@reelgate/proto/billing/v1/token_right';
import { WebhookRight as WireRight } from '@reelgate/proto/billing/v1/webhook_right';
import { requireValue } from './wire-values.ts';

const DEADLINE_MS = 5000;

/** The part of billing that the gateway calls for tokens and the money of tasks. */
export type BillingClient = Pick<
  Client<typeof BillingService>,
  'authenticate' | 'getHold' | 'getPrincipal' | 'listCharges' | 'listUnitPrices'
>;

/** The token's own limits. An undefined limit is the configured number. */
export interface OwnLimits {
  readonly createsPerMinute: number | undefined;
  readonly readsPerMinute: number | undefined;
  readonly callsPerMinute: number | undefined;
  /** The number of tasks in flight. */
  readonly inFlight: number | undefined;
}

/** The right of a token over the webhooks of its account. */
export type WebhookRight = EnumWord<typeof WireRight>;

export const WEBHOOK_RIGHTS = deriveWords(WireRight, 'write');

/** The right of a token over the tokens of its account. */
export type TokenRight = EnumWord<typeof WireTokenRight>;

export const TOKEN_RIGHTS = deriveWords(WireTokenRight, 'none');

/** A token with a count of its use. */
export interface CountedToken {
  readonly tokenId: string;
  readonly limits?: OwnLimits | undefined;
}

/** The caller and its access rights. */
export interface Principal extends CountedToken {
  readonly accountId: string;
  /** The name that a person gave the token. It can be empty. */
  readonly tokenName: string;
  /** Models that the token may use; `*` is every model. */
  readonly models: readonly string[];
  /** Milliseconds since 1970, undefined if the token never expires. */
  readonly expiresAt: number | undefined;
  /**
   * The tokens that created it, directly or through others, the nearest first. The use of the token counts against the
   * limits of each of them too.
   */
  readonly makers?: readonly CountedToken[] | undefined;
  readonly webhooks: WebhookRight;
  readonly tokens: TokenRight;
  /** The label of its orders, unless the request names another one. */
  readonly label?: string | undefined;
  /** The price in billionths above which an order of an agent needs a person, undefined if no order does. */
  readonly confirmAboveNanos?: bigint | undefined;
}

const EVERY_MODEL = '*';

/** Reports whether a token may use a model. */
export function mayUse({ models }: Principal, model: string): boolean {
  return models.includes(EVERY_MODEL) || models.includes(model);
}

/** Lists the token and the tokens that created it, nearest first. */
export function listTokenAndMakers({ tokenId, makers = [] }: Principal): readonly [string, ...string[]] {
  return [tokenId, ...makers.map((maker) => maker.tokenId)];
}

/** Turns a site token into its principal, or refuses it with a Problem. */
export type Authenticate = (key: string, requestId: string, span?: Span) => Promise<Principal>;

export function billingAuthenticate(billing: BillingClient): Authenticate {
  return async (key, requestId, span) => {
    const { principal } = await billing.authenticate({ key }, { timeoutMs: DEADLINE_MS, requestId, span });
    const { accountId, tokenId, models, expiresAt, limits, webhooks, tokens, name, makers, label, confirmAboveNanos } =
      requireValue(principal);
    return {
      accountId,
      tokenId,
      tokenName: name,
      models,
      expiresAt: expiresAt === undefined ? undefined : timestampMs(expiresAt),
      limits: limits && fromWireLimits(limits),
      makers: makers.map((maker) => ({
        tokenId: maker.tokenId,
        limits: maker.limits && fromWireLimits(maker.limits),
      })),
      webhooks: WEBHOOK_RIGHTS[webhooks],
      tokens: TOKEN_RIGHTS[tokens],
      label: label || undefined,
      confirmAboveNanos,
    };
  };
}

/** Zero means the configured number. */
export function fromWireLimits({ createsPerMinute, readsPerMinute, callsPerMinute, inFlight }: TokenLimits): OwnLimits {
  return {
    createsPerMinute: createsPerMinute || undefined,
    readsPerMinute: readsPerMinute || undefined,
    callsPerMinute: callsPerMinute || undefined,
    inFlight: inFlight || undefined,
  };
}
