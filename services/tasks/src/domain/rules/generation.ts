import type { Rule } from '../fault.ts';
import type { Model } from '../model.ts';
import type { Order } from '../order.ts';
import { contentRules } from './content.ts';
import type { ContentLimits } from './content.ts';
import { foreignFields, durationFault, ratioFault, resolutionFault } from './ranges.ts';

/** A context-IR order has the same limits. */
export const GENERATION_CONTENT: ContentLimits = {
  textCodePointsMax: 7000,
  roles: ['first_frame', 'last_frame', 'reference_image', 'reference_video', 'reference_audio'],
};

/** The rules for generating a video. If the model is unknown, only the rules that hold for every model apply. */
export function generationRules(model: Model | undefined): readonly Rule<Order>[] {
  return [
    ({ sourceTaskId }) =>
      sourceTaskId === undefined
        ? undefined
        : {
            reason: 'conflicting_source',
            field: 'source_task_id',
            message: 'is a field of regeneration, not of generation; remove it',
          },
    foreignFields('generation', 'aigc_watermark', 'callback_url'),
    ...contentRules(GENERATION_CONTENT),
    (order) => durationFault(order, model),
    (order) => resolutionFault(order, model),
    (order) => ratioFault(order, model),
  ];
}
