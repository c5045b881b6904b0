import type { Rule } from '../fault.ts';
import type { Model } from '../model.ts';
import type { Order } from '../order.ts';
import { contentRules } from './content.ts';
import { durationFault, ratioFault, resolutionFault } from './ranges.ts';

export const TEXT_CODE_POINTS_MAX = 7000;

/** Making a video. Where the model is not known, only what holds for every model is judged. */
export function generationRules(model: Model | undefined): readonly Rule<Order>[] {
  return [
    ({ sourceTaskId }) =>
      sourceTaskId === undefined
        ? undefined
        : {
            reason: 'conflicting_source',
            field: 'source_task_id',
            message: 'belongs to regeneration, not to generation',
          },
    ...contentRules({
      textCodePointsMax: TEXT_CODE_POINTS_MAX,
      roles: ['first_frame', 'last_frame', 'reference_image', 'reference_video', 'reference_audio'],
    }),
    (order) => durationFault(order, model),
    (order) => resolutionFault(order, model),
    (order) => ratioFault(order, model),
  ];
}
