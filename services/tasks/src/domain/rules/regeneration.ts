import type { Fault, Rule } from '../fault.ts';
import { ALPHA, allowsKind } from '../model.ts';
import { listMedia } from '../order.ts';
import type { Order } from '../order.ts';
import { contentRules } from './content.ts';
import type { ContentLimits } from './content.ts';
import { foreignFields } from './ranges.ts';

export const REGENERATION_RESOLUTION = '2K';
export const REGENERATION_CONTENT: ContentLimits = {
  /** Final prompts are long: the vendor allows 40 000 characters (vendor contract §3). */
  textCodePointsMax: 40_000,
  roles: ['base_video', 'first_frame', 'last_frame', 'reference_image', 'reference_video', 'reference_audio'],
};

/** The rules for rendering a 768P video at 2K, from a source task (mode A) or from a base video (mode B). */
export const regenerationRules: readonly Rule<Order>[] = [
  (order) =>
    allowsKind(order.model, 'regeneration')
      ? undefined
      : { reason: 'invalid_request', field: 'model', message: `must be exactly ${ALPHA} for regeneration` },
  foreignFields('regeneration', 'duration', 'ratio', 'callback_url'),
  ({ resolution }) =>
    resolution === REGENERATION_RESOLUTION
      ? undefined
      : {
          reason: 'invalid_resolution',
          field: 'resolution',
          message: `must be ${REGENERATION_RESOLUTION} for regeneration`,
        },
  modeFault,
  (order) => (order.sourceTaskId === undefined ? contentFault(order) : undefined),
];

function modeFault(order: Order): Fault | undefined {
  const bases = listMedia(order).filter(({ role }) => role === 'base_video').length;
  if (order.sourceTaskId !== undefined) {
    return bases > 0 || order.content.length > 0
      ? {
          reason: 'conflicting_source',
          field: 'source_task_id',
          message: 'and content must not both be sent; send one of them',
        }
      : undefined;
  }
  if (bases === 1) return undefined;
  return bases > 1
    ? {
        reason: 'conflicting_source',
        field: 'content',
        message: `must hold exactly one base_video item; it holds ${bases}`,
      }
    : {
        reason: 'invalid_request',
        field: 'source_task_id',
        message: 'is required, unless content holds one base_video item and a text item',
      };
}

function contentFault(order: Order): Fault | undefined {
  for (const rule of contentRules(REGENERATION_CONTENT)) {
    const fault = rule(order);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
