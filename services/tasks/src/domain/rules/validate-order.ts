import { firstFault } from '../fault.ts';
import type { Fault, Rule } from '../fault.ts';
import { isVisible, ALPHA, allowsKind } from '../model.ts';
import type { Model } from '../model.ts';
import { listMedia } from '../order.ts';
import type { Kind, Order } from '../order.ts';
import { contentRules, describeContent } from './content.ts';
import type { ContentLimits, ContentBounds } from './content.ts';
import { foreignFields, durationFault, ratioFault, resolutionFault, RATIOS } from './ranges.ts';
import type { Task } from '../task.ts';

/** A context-IR order has the same limits. */
const GENERATION_CONTENT: ContentLimits = {
  textCodePointsMax: 7000,
  roles: ['first_frame', 'last_frame', 'reference_image', 'reference_video', 'reference_audio'],
};

/** The rules for generating a video. If the model is unknown, only the rules that hold for every model apply. */
function generationRules(model: Model | undefined): readonly Rule<Order>[] {
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

const RULES: Readonly<Record<Kind, (model: Model | undefined) => readonly Rule<Order>[]>> = {
  generation: generationRules,
  regeneration: () => regenerationRules,
  context_ir: contextIrRules,
};

/**
 * The first fault of an order that can be found without a look-up. A model that is invisible to the caller counts as
 * unknown, so a refusal does not reveal it.
 */
export function validateOrder(
  order: Order,
  models: ReadonlyMap<string, Model>,
  visibleModels: readonly string[],
): Fault | undefined {
  if (order.model === '') return { reason: 'missing_model', field: 'model', message: 'is required' };
  const model = isVisible(visibleModels, order.model) ? models.get(order.model) : undefined;
  return firstFault(order, RULES[order.kind](model));
}

/** The contract fixes this range. The model's range for video does not apply. */
const DURATION_MIN = 4;
const DURATION_MAX = 15;

/** The rules for enhancing a prompt. */
function contextIrRules(model: Model | undefined): readonly Rule<Order>[] {
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

const REGENERATION_RESOLUTION = '2K';
const REGENERATION_CONTENT: ContentLimits = {
  /** Final prompts are long: the vendor allows 40 000 characters (vendor contract §3). */
  textCodePointsMax: 40_000,
  roles: ['base_video', 'first_frame', 'last_frame', 'reference_image', 'reference_video', 'reference_audio'],
};

/** The rules for rendering a 768P video at 2K, from a source task (mode A) or from a base video (mode B). */
const regenerationRules: readonly Rule<Order>[] = [
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

/**
 * The largest area of a source, as one of its shapes, and the number that both must be multiples of (vendor contract
 * §3).
 */
const [WIDTH_MAX, HEIGHT_MAX] = [1344, 768];
const SIDE_MULTIPLE = 32;
const RESOLUTION = '768P';

/**
 * Returns the reason why a task cannot be the source of a regeneration; undefined if it can. The caller has checked
 * the owner of the task.
 */
export function sourceFault(source: Task): Fault | undefined {
  const describeUnsupported = (message: string): Fault => ({
    reason: 'source_task_unsupported',
    field: 'source_task_id',
    message,
  });
  if (source.order.kind !== 'generation') return describeUnsupported('must name a video generation task');
  if (source.state === 'failed') return describeUnsupported('must name a completed task; this task failed');
  if (source.state !== 'completed')
    return {
      reason: 'source_task_not_ready',
      field: 'source_task_id',
      message: 'must name a completed task; this task has not finished yet',
    };
  if (source.order.resolution !== RESOLUTION)
    return describeUnsupported(
      `must name a task with a ${RESOLUTION} result; only such a result can be rendered at 2K`,
    );
  return meetsOutputConstraints(source)
    ? undefined
    : describeUnsupported(
        `must name a task whose result has at most ${WIDTH_MAX}x${HEIGHT_MAX} pixels ` +
          `and sides that are multiples of ${SIDE_MULTIPLE}`,
      );
}

function meetsOutputConstraints({ result }: Task): boolean {
  const { width = 0, height = 0 } = result ?? {};
  if (width === 0 || height === 0) return false;
  return width * height <= WIDTH_MAX * HEIGHT_MAX && width % SIDE_MULTIPLE === 0 && height % SIDE_MULTIPLE === 0;
}

/** The limits of one use of a model, taken from the rules that judge its orders. */
export interface OperationLimits {
  readonly kind: Kind;
  /** Empty if its orders name no resolution. */
  readonly resolutions: readonly string[];
  readonly content: ContentBounds;
}

interface KindLimits {
  readonly content: ContentLimits;
  readonly listResolutions: (model: Model) => readonly string[];
}

const LIMITS: Readonly<Record<Kind, KindLimits>> = {
  generation: { content: GENERATION_CONTENT, listResolutions: ({ resolutions }) => resolutions },
  regeneration: { content: REGENERATION_CONTENT, listResolutions: () => [REGENERATION_RESOLUTION] },
  context_ir: { content: GENERATION_CONTENT, listResolutions: () => [] },
};

/** Returns the limits of a use of a model; undefined if every order of it would be refused. */
export function describeOperation(kind: Kind, model: Model): OperationLimits | undefined {
  if (!allowsKind(model.id, kind)) return undefined;
  const { content, listResolutions } = LIMITS[kind];
  return { kind, resolutions: listResolutions(model), content: describeContent(content) };
}
