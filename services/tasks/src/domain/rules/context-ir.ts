import type { Rule } from '../fault.ts';
import { ALPHA } from '../model.ts';
import type { Model } from '../model.ts';
import type { Order } from '../order.ts';
import { contentRules } from './content.ts';
import { TEXT_CODE_POINTS_MAX } from './generation.ts';
import { durationFault, ratioFault } from './ranges.ts';

/** The contract fixes the range, whatever the model could do for video. */
const DURATION_MIN = 4;
const DURATION_MAX = 15;

/** Enhancing a prompt. */
export function contextIrRules(model: Model | undefined): readonly Rule<Order>[] {
  const bounds: Model | undefined = model === undefined ? undefined : { ...model, durationMin: DURATION_MIN, durationMax: DURATION_MAX };
  return [
    (order) => (order.model === ALPHA ? undefined : { reason: 'invalid_request', field: 'model', message: `must be exactly ${ALPHA} for context-IR` }),
    ...contentRules({ textCodePointsMax: TEXT_CODE_POINTS_MAX, roles: ['first_frame', 'last_frame', 'reference_image', 'reference_video', 'reference_audio'] }),
    (order) => durationFault(order, bounds),
    (order) => ratioFault(order, bounds),
  ];
}
