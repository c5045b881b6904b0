import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { deriveValues, deriveWords, listWords } from '@reelgate/platform/rpc/enum-words';
import type { EnumWord } from '@reelgate/platform/rpc/enum-words';
import { Secret } from '@reelgate/platform/secret';
import type { Client } from '@reelgate/platform/rpc/service';
import type { AccountService, Token as WireToken } from '@reelgate/proto/billing/v1/account_service';
import { TokenClass as WireClass, TokenWait as WireWait } from '@reelgate/proto/billing/v1/token_queue';
import type { TokenQueue as WireQueue } from '@reelgate/proto/billing/v1/token_queue';
import { TokenRight as WireTokenRight } from '@reelgate/proto/billing/v1/token_right';
import { WebhookRight as WireWebhookRight } from '@reelgate/proto/billing/v1/webhook_right';
import { withDeadline } from './caller.ts';
import type { AccountCaller } from './caller.ts';
import { TOKEN_RIGHTS, WEBHOOK_RIGHTS, fromWireLimits } from './billing-client.ts';
import type { OwnLimits, TokenRight, WebhookRight } from './billing-client.ts';
import { toMs, requireValue, emptyToUndefined } from './wire-values.ts';
import type { MessageMapping } from './wire-values.ts';

/** The way in which the tasks of a token wait. */
export interface TokenQueue {
  readonly wait: EnumWord<typeof WireWait>;
  /** The best class of its tasks. */
  readonly class: EnumWord<typeof WireClass>;
}

/** The settings of a token that can be changed later. */
export interface TokenLimits {
  /** Maximum total spending in billionths; undefined if only the money of the account limits it. */
  readonly limitNanos: bigint | undefined;
  readonly limits: OwnLimits;
  /** Undefined: as before, or as any other token. */
  readonly queue: TokenQueue | undefined;
  /** The label of what it orders, unless a request names another one. Undefined: as before, or none; empty: none. */
  readonly label: string | undefined;
}

export interface TokenSettings extends TokenLimits {
  readonly name: string;
  readonly models: readonly string[];
  readonly webhooks: WebhookRight;
  readonly tokens: TokenRight;
  /** Milliseconds since 1970; undefined if the token never expires. */
  readonly expiresAt: number | undefined;
}

/** A site token without its key. */
export interface SiteToken extends TokenSettings {
  readonly queue: TokenQueue;
  /** The price above which an order of an agent needs a person; undefined if none does. */
  readonly confirmAboveNanos?: bigint | undefined;
  readonly id: string;
  readonly accountId: string;
  /** The last characters of its key; undefined: not known. */
  readonly hint: string | undefined;
  /** The amount that it has spent and holds. */
  readonly usedNanos: bigint;
  readonly createdAt: number;
  readonly revokedAt: number | undefined;
  readonly lastChargedAt: number | undefined;
  /** The token that made it; undefined if an operator or the configuration made it. */
  readonly madeByTokenId: string | undefined;
}

/** The maker or revoker of a token: a token of the same account, which billing checks. */
export interface TokenActor {
  readonly tokenId: string;
}

export interface Revocation {
  readonly tokenId: string;
  /** True if all tokens that it made, directly or through others, end with it. */
  readonly withMade: boolean;
}

/** Of tokens without their own. */
interface ConfiguredLimits {
  readonly createsPerMinute: number;
  readonly readsPerMinute: number;
  readonly callsPerMinute: number;
}

/**
 * The same for a new token. A token needs the configured limits: where it has none of its own, they bound the new one.
 */
interface MakingActor extends TokenActor {
  readonly configuredLimits?: ConfiguredLimits;
}

/** The tokens of an account, in the gateway's types. */
export interface SiteTokens {
  list(caller: AccountCaller): Promise<{ readonly tokens: readonly SiteToken[]; readonly currency: string }>;
  /** The currency is that of the account. */
  create(
    caller: AccountCaller,
    settings: TokenSettings,
    by: MakingActor,
  ): Promise<{ readonly token: SiteToken; readonly key: Secret; readonly currency: string }>;
  revoke(
    caller: AccountCaller,
    revocation: Revocation,
    by: TokenActor,
  ): Promise<{ readonly token: SiteToken; readonly madeRevoked: number; readonly currency: string }>;
}

export function tokensClient(rpc: Client<typeof AccountService>): SiteTokens {
  const readCurrency = async ({ accountId, ...call }: AccountCaller): Promise<string> =>
    requireValue((await rpc.getAccount({ id: accountId }, withDeadline(call))).account).currency;
  return {
    list: async (caller) => {
      const { accountId, ...call } = caller;
      const [currency, { tokens }] = await Promise.all([
        readCurrency(caller),
        rpc.listTokens({ accountId }, withDeadline(call)),
      ]);
      return { tokens: tokens.map(fromWireToken), currency };
    },
    create: async (caller, settings, by) => {
      const { accountId, ...call } = caller;
      // first: the answer has the key, and no failure may lose it
      const currency = await readCurrency(caller);
      const maker = { makerTokenId: by.tokenId, configuredLimits: by.configuredLimits ?? {} };
      const { token, key } = await rpc.createToken(
        { accountId, ...toWireSettings(settings), ...maker },
        withDeadline(call),
      );
      return { token: fromWireToken(requireValue(token)), key: new Secret(key), currency };
    },
    revoke: async (caller, { tokenId, withMade }, by) => {
      const { accountId: _, ...call } = caller;
      const currency = await readCurrency(caller);
      const { token, madeRevoked } = await rpc.revokeToken(
        { id: tokenId, withMade, revokerTokenId: by.tokenId },
        withDeadline(call),
      );
      return { token: fromWireToken(requireValue(token)), madeRevoked, currency };
    },
  };
}

const WIRE_WEBHOOK_RIGHTS = deriveValues(WireWebhookRight);
const WIRE_TOKEN_RIGHTS = deriveValues(WireTokenRight);
export const TOKEN_WAITS = listWords(WireWait);
export const TOKEN_CLASSES = listWords(WireClass);
const WIRE_WAITS = deriveValues(WireWait);
const WAITS = deriveWords(WireWait, 'channels');
const WIRE_CLASSES = deriveValues(WireClass);
const CLASSES = deriveWords(WireClass, 'standard');

function toWireSettings({ name, models, webhooks, tokens, expiresAt, ...limits }: TokenSettings) {
  return {
    name,
    models: [...models],
    webhooks: WIRE_WEBHOOK_RIGHTS[webhooks],
    tokens: WIRE_TOKEN_RIGHTS[tokens],
    ...(expiresAt === undefined ? {} : { expiresAt: timestampFromMs(expiresAt) }),
    ...toWireLimits(limits),
  };
}

/** Zero is the configured limit. */
function toWireLimits({ limitNanos, limits, queue, label }: TokenLimits) {
  const { createsPerMinute = 0, readsPerMinute = 0, callsPerMinute = 0, inFlight = 0 } = limits;
  return {
    ...(limitNanos === undefined ? {} : { limitNanos }),
    limits: { createsPerMinute, readsPerMinute, callsPerMinute, inFlight },
    ...(label !== undefined && { label }),
    ...(queue && { queue: { wait: WIRE_WAITS[queue.wait], class: WIRE_CLASSES[queue.class] } }),
  };
}

function fromWireToken(wire: WireToken): SiteToken {
  const { id, accountId, name, models, limitNanos, usedNanos, limits, webhooks, tokens, madeByTokenId } = wire;
  return {
    id,
    accountId,
    name,
    models,
    limitNanos,
    usedNanos,
    limits: limits === undefined ? NO_LIMITS : fromWireLimits(limits),
    webhooks: WEBHOOK_RIGHTS[webhooks],
    tokens: TOKEN_RIGHTS[tokens],
    queue: fromWireQueue(wire.queue),
    label: emptyToUndefined(wire.label),
    hint: emptyToUndefined(wire.hint),
    confirmAboveNanos: wire.confirmAboveNanos,
    createdAt: toMs(wire.createdAt) ?? 0,
    expiresAt: toMs(wire.expiresAt),
    revokedAt: toMs(wire.revokedAt),
    lastChargedAt: toMs(wire.lastChargedAt),
    madeByTokenId: emptyToUndefined(madeByTokenId),
  } satisfies MessageMapping<WireToken>;
}

/** A release of billing before this one sends none. */
function fromWireQueue({ wait, class: best }: Partial<WireQueue> = {}): TokenQueue {
  return { wait: WAITS[wait ?? WireWait.UNSPECIFIED], class: CLASSES[best ?? WireClass.UNSPECIFIED] };
}

const NO_LIMITS: OwnLimits = {
  createsPerMinute: undefined,
  readsPerMinute: undefined,
  callsPerMinute: undefined,
  inFlight: undefined,
};
