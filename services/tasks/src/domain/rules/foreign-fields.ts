import type { Rule } from '../fault.ts';
import type { Order } from '../order.ts';

/** The fields that only some kinds of order have, by their names in the contract. */
const FIELDS = {
  duration: ({ duration }: Order) => duration,
  resolution: ({ resolution }: Order) => resolution,
  ratio: ({ ratio }: Order) => ratio,
  source_task_id: ({ sourceTaskId }: Order) => sourceTaskId,
  aigc_watermark: ({ aigcWatermark }: Order) => aigcWatermark,
  callback_url: ({ callbackUrl }: Order) => callbackUrl,
} as const satisfies Readonly<Record<string, (order: Order) => unknown>>;

/** Refuses fields that an operation does not have. Without this rule they would be ignored. */
export function foreignFields(operation: string, ...foreign: readonly (keyof typeof FIELDS)[]): Rule<Order> {
  return (order) => {
    const field = foreign.find((name) => FIELDS[name](order) !== undefined);
    return field === undefined
      ? undefined
      : { reason: 'unknown_field', field, message: `is not a field of ${operation}; remove it` };
  };
}
