import {
  BATCH_PERCENT,
  INPUT_NANOS_PER_SECOND,
  NANOS_PER_SECOND,
  PRICE_PERCENTS,
  REMIX_NANOS_PER_SECOND,
} from './simulated-config.ts';
import type { Caller } from './simulated-config.ts';

/** The time in milliseconds for which a process may go on with a configuration that has been replaced. */
const OUTDATED_MS_MAX = 60_000;

/** What a client orders, by its own account. The rules judge the product by it, and never by rows of the product. */
export interface OrderedVideo {
  readonly order: string;
  readonly caller: Caller;
  /** Empty if the order has no key. */
  readonly key: string;
  readonly label: string;
  readonly resolution: string;
  readonly seconds: number;
  /** The length of the reference video; 0 without one. */
  readonly inputSeconds: number;
  readonly isRemix: boolean;
  /** The most that the order may cost, in billionths. Undefined if it has no bound. */
  readonly maxNanos: bigint | undefined;
}

/** Everything that the clients of a run have ordered. */
export interface Orders {
  /** A client is about to send the order for the first time. */
  open(video: OrderedVideo): void;
  /** A client sends a create of the order, which begins now and is priced in a class if the queue is on. */
  sent(order: string, isBatch: boolean): void;
  /** A create of the order is answered with a task, so none of its creates is priced later. */
  answered(order: string): void;
  find(order: string): OrderedVideo | undefined;
  /** The configuration has changed for the given number of times. */
  reloaded(reloads: number): void;
  /**
   * The prices of the order for these seconds, in billionths, whatever its bound: one for each price table that a process
   * can have had while the creates of the order were under way, and for each class in which it was sent.
   */
  listPrices(order: string, seconds: number): readonly PossiblePrice[];
}

export interface PossiblePrice {
  readonly nanos: bigint;
  /** True if a reload has brought the price. */
  readonly isChanged: boolean;
}

interface OpenOrder {
  readonly video: OrderedVideo;
  firstSentAt: number;
  lastAnsweredAt: number;
  readonly classes: Set<boolean>;
}

export function openOrders(now: () => number): Orders {
  const orders = new Map<string, OpenOrder>();
  const reloads: { readonly at: number; readonly percent: bigint }[] = [{ at: 0, percent: PRICE_PERCENTS[0] }];
  const listPercents = ({ firstSentAt, lastAnsweredAt }: OpenOrder): readonly bigint[] => {
    const since = firstSentAt - OUTDATED_MS_MAX;
    const before = reloads.findLast(({ at }) => at <= since);
    const later = reloads.filter(({ at }) => at > since && at <= lastAnsweredAt);
    return [...new Set([before, ...later].flatMap((table) => (table === undefined ? [] : [table.percent])))];
  };
  return {
    open: (video) => {
      const at = now();
      orders.set(video.order, { video, firstSentAt: at, lastAnsweredAt: Infinity, classes: new Set() });
    },
    sent: (order, isBatch) => {
      orders.get(order)?.classes.add(isBatch);
    },
    answered: (order) => {
      const known = orders.get(order);
      if (known !== undefined) known.lastAnsweredAt = now();
    },
    find: (order) => orders.get(order)?.video,
    reloaded: (count) => {
      reloads.push({ at: now(), percent: PRICE_PERCENTS[count % PRICE_PERCENTS.length]! });
    },
    listPrices: (order, seconds) => {
      const known = orders.get(order);
      if (known === undefined) return [];
      return listPercents(known).flatMap((percent) =>
        [...known.classes].map((isBatch) => ({
          nanos: computePrice(known.video, seconds, { percent, isBatch }),
          isChanged: percent !== PRICE_PERCENTS[0],
        })),
      );
    },
  };
}

/** A part of the seconds that an upstream reports is the input. */
function computePrice(
  { resolution, inputSeconds, isRemix }: OrderedVideo,
  seconds: number,
  { percent, isBatch }: { readonly percent: bigint; readonly isBatch: boolean },
): bigint {
  const whole = isRemix ? REMIX_NANOS_PER_SECOND : (NANOS_PER_SECOND[resolution] ?? 0n);
  const price = (nanos: bigint): bigint =>
    isBatch && !isRemix ? (nanos * percent * BATCH_PERCENT) / 10_000n : (nanos * percent) / 100n;
  const input = Math.min(inputSeconds, seconds);
  return price(whole) * BigInt(seconds - input) + price(INPUT_NANOS_PER_SECOND) * BigInt(input);
}
