import type { Fault, Rule } from '../fault.ts';
import { ALPHA } from '../model.ts';
import type { Model } from '../model.ts';
import type { Order } from '../order.ts';
import { contentRules } from './content.ts';
import { TEXT_CODE_POINTS_MAX } from './generation.ts';
import { RATIOS, durationFault, ratioFault } from './ranges.ts';

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
      order.model === ALPHA
        ? undefined
        : { reason: 'invalid_request', field: 'model', message: `must be exactly ${ALPHA} for context-IR` },
    foreignFault,
    ...contentRules({
      textCodePointsMax: TEXT_CODE_POINTS_MAX,
      roles: ['first_frame', 'last_frame', 'reference_image', 'reference_video', 'reference_audio'],
    }),
    (order) => durationFault(order, bounds),
    (order) => ratioFault(order, bounds),
  ];
}

/** Refuses a field that only the other kinds have. */
function foreignFault({ resolution, aigcWatermark, sourceTaskId }: Order): Fault | undefined {
  const [field] =
    Object.entries({ resolution, aigc_watermark: aigcWatermark, source_task_id: sourceTaskId }).find(
      ([, value]) => value !== undefined,
    ) ?? [];
  return field === undefined
    ? undefined
    : { reason: 'unknown_field', field, message: 'is not a field of context-IR; remove it' };
}
