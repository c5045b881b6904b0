import type { Fault, Rule } from '../fault.ts';
import type { Model } from '../model.ts';
import { listMedia } from '../order.ts';
import type { Order } from '../order.ts';

const ADAPTIVE = 'adaptive';
/** The range in seconds that the contract allows if the model does not restrict it. */
const DURATION = { min: 4, max: 15 };
export const RATIOS = ['adaptive', '21:9', '16:9', '4:3', '1:1', '3:4', '9:16'];

/** A missing duration is refused even if the model is unknown, so the answer is the same for every model. */
export function durationFault({ duration }: Order, model: Model | undefined): Fault | undefined {
  const fault = (message: string): Fault => ({ reason: 'invalid_duration', field: 'duration', message });
  const { min, max } = model === undefined ? DURATION : { min: model.durationMin, max: model.durationMax };
  if (duration === undefined) return fault(`is required; use whole seconds from ${min} to ${max}`);
  if (model === undefined) return undefined;
  return duration < min || duration > max
    ? fault(`must be whole seconds from ${min} to ${max} for ${model.id}; it is ${duration}`)
    : undefined;
}

export function resolutionFault({ resolution }: Order, model: Model | undefined): Fault | undefined {
  const fault = (message: string): Fault => ({ reason: 'invalid_resolution', field: 'resolution', message });
  if (resolution === undefined || resolution === '')
    return fault(`is required${model === undefined ? '' : `; use one of ${model.resolutions.join(', ')}`}`);
  if (model === undefined || model.resolutions.includes(resolution)) return undefined;
  return fault(`must be one of ${model.resolutions.join(', ')} for ${model.id}; it is ${quote(resolution)}`);
}

/** A content of text only needs a concrete ratio. With frames or reference media the ratio is optional. */
export function ratioFault(order: Order, model: Model | undefined): Fault | undefined {
  const fault = (message: string): Fault => ({ reason: 'invalid_ratio', field: 'ratio', message });
  const { ratio } = order;
  const known = model?.ratios ?? RATIOS;
  const textOnly = listMedia(order).length === 0;
  if (ratio === undefined)
    return textOnly ? fault(`is required for text-only content; use one of ${concrete(known).join(', ')}`) : undefined;
  if (textOnly && ratio === ADAPTIVE)
    return fault(`cannot be adaptive for text-only content; use one of ${concrete(known).join(', ')}`);
  if (ratio === '') return fault(`must be one of ${known.join(', ')}`);
  return model === undefined || known.includes(ratio)
    ? undefined
    : fault(`must be one of ${(textOnly ? concrete(known) : known).join(', ')} for ${model.id}; it is ${quote(ratio)}`);
}

/** The ratios that an order of text alone cannot have. */
export function listMediaRatios(ratios: readonly string[]): readonly string[] {
  return ratios.filter((ratio) => ratio === ADAPTIVE);
}

function concrete(ratios: readonly string[]): readonly string[] {
  return ratios.filter((ratio) => ratio !== ADAPTIVE);
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 40));
}

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
