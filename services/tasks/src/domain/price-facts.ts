import type { QueueClass } from './lane.ts';
import { listMedia } from './order.ts';
import type { Kind, Order } from './order.ts';

/** The quantities that a price contract multiplies. */
export interface PriceFacts {
  readonly priceKey: string;
  readonly resolution: string;
  readonly seconds: number;
  readonly inputVideoSeconds: number;
  readonly images: number;
  /** The class in which the task waits, for contracts with prices of their own for it. Absent if it has no class. */
  readonly class?: QueueClass | undefined;
  /**
   * The choices of the order that can have a price of their own, such as `generate_audio_false`. Absent if there are no
   * such choices.
   */
  readonly choices?: readonly string[] | undefined;
}

const KEYS: Readonly<Record<Kind, (model: string) => string>> = {
  generation: (model) => model,
  regeneration: (model) => `${model}__regeneration`,
  context_ir: (model) => `${model}__context_ir`,
};

/** The quantities, next to the seconds of output, that the price of each kind counts. */
const COUNTED: Readonly<Record<Kind, CountedQuantities>> = {
  generation: { inputSeconds: true, images: true },
  regeneration: { inputSeconds: false, images: true },
  context_ir: { inputSeconds: false, images: false },
};

export interface CountedQuantities {
  readonly inputSeconds: boolean;
  readonly images: boolean;
}

export function toPriceKey(kind: Kind, model: string): string {
  return KEYS[kind](model);
}

export function listCounted(kind: Kind): CountedQuantities {
  return COUNTED[kind];
}

/** Total lengths, in milliseconds, of the probed videos of an order. */
export interface ProbedVideos {
  readonly referenceMs: number;
  readonly baseMs: number;
}

const SECOND_MS = 1000;

/**
 * The price facts of an order. Until its videos are probed, a reference video counts as zero seconds and a base video
 * as one second. The hold is extended to the complete facts before the order is submitted.
 */
export function priceFacts(
  order: Order,
  sourceSeconds: number | undefined,
  probed: ProbedVideos = { referenceMs: 0, baseMs: 0 },
): PriceFacts {
  const counted = COUNTED[order.kind];
  return {
    priceKey: toPriceKey(order.kind, order.model),
    resolution: order.kind === 'context_ir' ? '' : (order.resolution ?? ''),
    seconds:
      order.kind === 'regeneration'
        ? (sourceSeconds ?? Math.max(1, Math.floor(probed.baseMs / SECOND_MS)))
        : (order.duration ?? 0),
    inputVideoSeconds: counted.inputSeconds ? Math.ceil(probed.referenceMs / SECOND_MS) : 0,
    images: counted.images ? listMedia(order).filter(({ media }) => media === 'image').length : 0,
  };
}
