import type { Rule } from '../fault.ts';
import { ALPHA, allowsKind } from '../model.ts';
import type { Model } from '../model.ts';
import type { Order } from '../order.ts';
import { contentRules } from './content.ts';
import { foreignFields, RATIOS, durationFault, ratioFault } from './ranges.ts';
import { GENERATION_CONTENT } from './generation.ts';

/** The contract fixes this range. The model's range for video does not apply. */
const DURATION_MIN = 4;
const DURATION_MAX = 15;

/** The rules for enhancing a prompt. */
export function contextIrRules(model: Model | undefined): readonly Rule<Order>[] {
  const bounds: Model = {
    id: ALPHA,
    resolutions: [],
    ratios: model?.ratios ?? RATIOS,
    durationMin: DURATION_MIN,
    durationMax: DURATION_MAX,
  };
  return [
    (order) =>
      allowsKind(order.model, 'context_ir')
        ? undefined
        : { reason: 'invalid_request', field: 'model', message: `must be exactly ${ALPHA} for context-IR` },
    foreignFields('context-IR', 'resolution', 'aigc_watermark', 'source_task_id'),
    ...contentRules(GENERATION_CONTENT),
    (order) => durationFault(order, bounds),
    (order) => ratioFault(order, bounds),
  ];
}
