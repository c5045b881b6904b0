import type { Fault } from '../fault.ts';
import type { Model } from '../model.ts';
import { mediaOf } from '../order.ts';
import type { Order } from '../order.ts';

const ADAPTIVE = 'adaptive';
/** What the contract allows where no model says otherwise. */
const DURATION = { min: 4, max: 15 };
export const RATIOS = ['adaptive', '21:9', '16:9', '4:3', '1:1', '3:4', '9:16'];

/** A missing duration is refused even where the model is not known, so that the answer is the same for every model. */
export function durationFault({ duration }: Order, model: Model | undefined): Fault | undefined {
  const fault = (message: string): Fault => ({ reason: 'invalid_duration', field: 'duration', message });
  const { min, max } = model === undefined ? DURATION : { min: model.durationMin, max: model.durationMax };
  if (duration === undefined) return fault(`is required: whole seconds from ${String(min)} to ${String(max)}`);
  if (model === undefined) return undefined;
  return duration < min || duration > max
    ? fault(`must be whole seconds from ${String(min)} to ${String(max)} for ${model.id}; it is ${String(duration)}`)
    : undefined;
}

export function resolutionFault({ resolution }: Order, model: Model | undefined): Fault | undefined {
  const fault = (message: string): Fault => ({ reason: 'invalid_resolution', field: 'resolution', message });
  if (resolution === undefined || resolution === '')
    return fault(`is required${model === undefined ? '' : `: one of ${model.resolutions.join(', ')}`}`);
  if (model === undefined || model.resolutions.includes(resolution)) return undefined;
  return fault(`must be one of ${model.resolutions.join(', ')} for ${model.id}; it is ${quote(resolution)}`);
}

/** Text alone needs a concrete ratio; beside frames or reference media it is optional, and valid where it is given. */
export function ratioFault(order: Order, model: Model | undefined): Fault | undefined {
  const fault = (message: string): Fault => ({ reason: 'invalid_ratio', field: 'ratio', message });
  const { ratio } = order;
  const known = model?.ratios ?? RATIOS;
  const textOnly = mediaOf(order).length === 0;
  if (ratio === undefined)
    return textOnly ? fault(`is required for text alone: one of ${concrete(known).join(', ')}`) : undefined;
  if (textOnly && ratio === ADAPTIVE)
    return fault(`cannot be adaptive for text alone; it can be ${concrete(known).join(', ')}`);
  if (ratio === '') return fault(`must be one of ${known.join(', ')}`);
  return model === undefined || known.includes(ratio)
    ? undefined
    : fault(`must be one of ${(textOnly ? concrete(known) : known).join(', ')} for ${model.id}; it is ${quote(ratio)}`);
}

function concrete(ratios: readonly string[]): readonly string[] {
  return ratios.filter((ratio) => ratio !== ADAPTIVE);
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 40));
}
