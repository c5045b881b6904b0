import type { EnumWord } from '@reelgate/platform/rpc/enum-words';
import type { TokenRight as WireTokenRight } from '@reelgate/proto/billing/v1/token_right';
import type { WebhookRight as WireWebhookRight } from '@reelgate/proto/billing/v1/webhook_right';
import type { Nanos } from './money.ts';

/** The token's own limits. The configured number replaces a limit that is undefined. */
export interface TokenLimits {
  readonly createsPerMinute: number | undefined;
  readonly readsPerMinute: number | undefined;
  /** Calls of the synchronous routes. */
  readonly callsPerMinute: number | undefined;
  /** Tasks. */
  readonly inFlight: number | undefined;
}

export const NO_LIMITS: TokenLimits = {
  createsPerMinute: undefined,
  readsPerMinute: undefined,
  callsPerMinute: undefined,
  inFlight: undefined,
};

/** The right of a token on the webhooks of its account. */
export type WebhookRight = EnumWord<typeof WireWebhookRight>;

/** The right of a token on the tokens of its account. */
export type TokenRight = EnumWord<typeof WireTokenRight>;

/** The reasons for which the creates of a token may wait, the narrowest first. */
export const TOKEN_WAITS = ['none', 'channels', 'own_limit'] as const;
/** The classes in which its tasks may wait, the lowest first. */
export const TOKEN_CLASSES = ['batch', 'standard', 'interactive'] as const;

/** The way in which the tasks of a token wait for a channel. */
export interface TokenQueue {
  readonly wait: (typeof TOKEN_WAITS)[number];
  /** The best one. */
  readonly class: (typeof TOKEN_CLASSES)[number];
}

export const DEFAULT_QUEUE: TokenQueue = { wait: 'channels', class: 'standard' };

/** The limits of a token that an operator can change. */
export interface ChangeableLimits {
  /** Maximum total spending of the token; undefined if only the account's money bounds it. */
  readonly limit: Nanos | undefined;
  readonly limits: TokenLimits;
  readonly queue: TokenQueue;
  /** The price above which an order of an agent needs a person, undefined if no order does. */
  readonly confirmAbove?: Nanos | undefined;
}

/** The rights of a token. Times are milliseconds since 1970. */
export interface TokenRights extends ChangeableLimits {
  /** `*` is every model. */
  readonly models: readonly string[];
  readonly expiresAt: number | undefined;
  readonly webhooks: WebhookRight;
  readonly tokens: TokenRight;
}

/** A site token without its key. */
export interface Token extends TokenRights {
  readonly id: string;
  /** The label of its orders, unless the request names another label. Empty if the token has no label. */
  readonly label: string;
  /** The last characters of its key. Empty if the key is too short, or if they are not known yet. */
  readonly hint: string;
  readonly accountId: string;
  readonly name: string;
  /** The sum of its charges and open holds. */
  readonly used: Nanos;
  /** The token that created it, undefined if an operator or the configuration did. */
  readonly madeByTokenId: string | undefined;
  readonly createdAt: number;
  readonly revokedAt: number | undefined;
}

const HINT_CHARACTERS = 4;
/** A shorter key, which only a configuration can have, would be easier to guess with a part of it known. */
const HINTED_CHARACTERS_MIN = 24;

/** The end of a key, by which people distinguish tokens. */
export function readHint(key: string): string {
  return key.length < HINTED_CHARACTERS_MIN ? '' : key.slice(-HINT_CHARACTERS);
}

/** The times after which a token cannot be used. */
export interface TokenEnd {
  readonly expiresAt: number | undefined;
  readonly revokedAt: number | undefined;
}

/** A token and the tokens that count its usage under their own limits. */
export interface Principal {
  readonly token: Token;
  /**
   * The maker of the token, the maker of that maker, and so on. Their limits bound the token even if they have ended.
   */
  readonly makers: readonly Token[];
}

/** Returns how the tasks of the token wait. The setting of each of its makers bounds it. */
export function boundQueue({ token, makers }: Principal): TokenQueue {
  const all = [token, ...makers].map(({ queue }) => queue);
  return {
    wait: TOKEN_WAITS.find((wait) => all.some((queue) => queue.wait === wait)) ?? token.queue.wait,
    class: TOKEN_CLASSES.find((best) => all.some((queue) => queue.class === best)) ?? token.queue.class,
  };
}

/**
 * Returns the price above which an order of an agent needs a person. The lowest price of the token and its makers
 * holds.
 */
export function boundConfirmation({ token, makers }: Principal): Nanos | undefined {
  const all = [token, ...makers].flatMap(({ confirmAbove }) => (confirmAbove === undefined ? [] : [confirmAbove]));
  return all.reduce<Nanos | undefined>((least, one) => (least === undefined || one < least ? one : least), undefined);
}

/** Returns the reason for which a token cannot be used now; undefined if it can be used. */
export function findDisabledReason(token: TokenEnd, now: number): 'revoked' | 'expired' | undefined {
  if (token.revokedAt !== undefined) return 'revoked';
  return token.expiresAt !== undefined && token.expiresAt <= now ? 'expired' : undefined;
}
