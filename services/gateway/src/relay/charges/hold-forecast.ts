import { LRUCache } from 'lru-cache';
import type { Clock } from '@reelgate/platform/clock';
import type { OrderAnswer, CallOrder } from '../../domain/call-order.ts';
import type { PriceFacts } from '../../domain/call-usage.ts';

/**
 * The multiple of the expected holds that the account and the token must have left. Other gateways and tasks spend
 * from the same account, and a price can change.
 */
const HEADROOM = 50;
/** The age at which an answer of billing is too old for a forecast. */
const FRESH_MS = 10_000;
/** Quantities of one magnitude differ by less than this factor, and so do the amounts of their holds. */
const MAGNITUDE = 2;
const ACCOUNTS_MAX = 20_000;
const TOKENS_MAX = 20_000;
const ALIKE_MAX = 10_000;

/**
 * Predicts from billing's last answers whether billing accepts a hold. It decides only whether a call may be sent at
 * the same time as its hold. Billing alone decides about money, before the client sees anything.
 */
export interface HoldForecast {
  /** Counts an order on its way to billing, and predicts its hold. */
  countSent(order: CallOrder): SentOrder;
}

export interface SentOrder {
  /** True if billing is as good as certain to take the hold, and the hold is small. */
  readonly isCovered: boolean;
  /** Takes billing's answer, undefined if it was lost. */
  readonly learn: (answer: OrderAnswer | undefined) => void;
}

export interface HoldForecastOptions {
  readonly clock: Clock;
  /** The largest hold, in billionths, for which the call may be sent at the same time. */
  readonly holdMax: number;
}

interface MoneyReading {
  readonly nanos: number;
  readonly readAt: number;
}

/** The orders of an account that billing has not answered. */
interface UnansweredOrders {
  orders: number;
  nanos: number;
}

/** Amounts are numbers here, because an estimate need not be exact. */
export function newHoldForecast({ clock, holdMax }: HoldForecastOptions): HoldForecast {
  // the caches grow with their entries; by `max` alone they would take the memory of all of them at the start
  const accounts = new LRUCache<string, MoneyReading>({ maxSize: ACCOUNTS_MAX, sizeCalculation: () => 1 });
  const tokens = new LRUCache<string, MoneyReading>({ maxSize: TOKENS_MAX, sizeCalculation: () => 1 });
  /** The last hold of each kind of order. */
  const alike = new LRUCache<string, number>({ maxSize: ALIKE_MAX, sizeCalculation: () => 1 });
  const unanswered = new Map<string, UnansweredOrders>();
  const hasLeft = (entries: LRUCache<string, MoneyReading>, id: string, needed: number): boolean => {
    const reading = entries.get(id);
    return reading !== undefined && needed <= reading.nanos && clock.now() - reading.readAt <= FRESH_MS;
  };
  const isCovered = ({ accountId, tokenId }: CallOrder, hold: number, others: number): boolean => {
    const needed = HEADROOM * (hold + others);
    return hold <= holdMax && hasLeft(accounts, accountId, needed) && hasLeft(tokens, tokenId, needed);
  };
  const learn = ({ accountId, tokenId }: CallOrder, kind: string, answer: OrderAnswer | undefined): void => {
    if (answer === undefined || 'refusal' in answer) {
      accounts.delete(accountId);
      tokens.delete(tokenId);
      alike.delete(kind);
      return;
    }
    alike.set(kind, answer.heldNanos);
    if (answer.remaining === undefined) return;
    const readAt = clock.now();
    accounts.set(accountId, { nanos: answer.remaining.ofAccount, readAt });
    tokens.set(tokenId, { nanos: answer.remaining.ofToken ?? Infinity, readAt });
  };
  return {
    countSent: (order) => {
      const { accountId } = order;
      const kind = classifyOrder(order);
      const last = alike.get(kind);
      const hold = (last ?? 0) * MAGNITUDE;
      const waiting = unanswered.get(accountId) ?? { orders: 0, nanos: 0 };
      const covered = last !== undefined && isCovered(order, hold, waiting.nanos);
      if (waiting.orders === 0) unanswered.set(accountId, waiting);
      waiting.orders += 1;
      waiting.nanos += hold;
      return {
        isCovered: covered,
        learn: (answer) => {
          waiting.orders -= 1;
          waiting.nanos -= hold;
          if (waiting.orders === 0) unanswered.delete(accountId);
          learn(order, kind, answer);
        },
      };
    },
  };
}

/** Returns the kind of an order. Orders of one kind have the same prices, and quantities of the same magnitude. */
function classifyOrder({ priceKeys: [key = ''], facts }: CallOrder): string {
  const { inputTokens, outputTokens, images, characters }: PriceFacts = facts;
  const tokens = `${toMagnitude(inputTokens)} ${toMagnitude(outputTokens)}`;
  return `${key} ${tokens} ${toMagnitude(images)} ${toMagnitude(characters)}`;
}

/** Returns minus infinity for a quantity of zero, and -1 for an unknown quantity. */
function toMagnitude(quantity: number | undefined): number {
  return quantity === undefined ? -1 : Math.floor(Math.log2(quantity));
}
