import type { Attempt, AttemptItem, ExtraFields, ExtraQuestion, Json } from '@reelgate/adapter-kit';
import { hashKey, listMedia } from '@reelgate/adapter-kit/kit';

const SEED_MAX = 2 ** 31 - 1;
const HOUR_S = 3600;
const DAY_S = 24 * HOUR_S;
const EXPIRES_AFTER = 'execution_expires_after';

/** The frames of a video: 25 + 4n, at 24 frames a second. */
const FRAMES = { least: 29, most: 289, first: 25, step: 4, perSecond: 24 } as const;

/**
 * The fields of the create API by their names there. Videos have sound unless it is turned off, so only its price can
 * be lower. Flex work may wait for a day and counts as late meanwhile, so an operator must allow it.
 */
export const ARK_EXTRA: ExtraFields = {
  seed: { type: 'whole', least: -1, most: SEED_MAX },
  generate_audio: { type: 'flag', isPriced: true },
  camera_fixed: { type: 'flag' },
  watermark: { type: 'flag' },
  return_last_frame: { type: 'flag' },
  frames: { type: 'whole', least: FRAMES.least, most: FRAMES.most },
  draft: { type: 'flag', isPriced: true },
  service_tier: { type: 'word', words: ['default', 'flex'], isPriced: true, isForOperators: true },
  [EXPIRES_AFTER]: { type: 'whole', least: HOUR_S, most: 3 * DAY_S },
};

const ALWAYS = ['watermark', 'return_last_frame', EXPIRES_AFTER];
const SILENT = [...ALWAYS, 'seed', 'camera_fixed', 'frames', 'service_tier'];

/** The fields that a model accepts, by a part of its id. The id of an endpoint does not show its model. */
const TAKEN: readonly (readonly [RegExp, readonly string[]])[] = [
  [/seedance-1-0-/, SILENT],
  [/seedance-1-5-/, [...ALWAYS, 'seed', 'camera_fixed', 'generate_audio', 'draft', 'service_tier']],
  [/seedance-2-0-/, [...ALWAYS, 'generate_audio']],
  [/seedance-2-5-/, [...ALWAYS, 'generate_audio', 'draft']],
];

/** Lists the fields that the model takes for an order. The camera of an order with references is never fixed. */
export function listArkExtra({ model, content }: ExtraQuestion): readonly string[] {
  const [, taken] = TAKEN.find(([part]) => part.test(model)) ?? [undefined, Object.keys(ARK_EXTRA)];
  const hasReferences = listMedia(content).some(({ role }) => role === 'reference_image');
  return hasReferences ? taken.filter((name) => name !== 'camera_fixed') : taken;
}

/** Returns the reason why the upstream cannot render the video with these fields, or undefined if it can. */
export function findArkUnfit({ extra = {}, duration = 0, resolution }: Attempt): string | undefined {
  const { frames, draft } = extra;
  if (draft === true && resolution?.toLowerCase() !== '480p') return 'a draft is made in 480p alone';
  if (typeof frames !== 'number') return undefined;
  if ((frames - FRAMES.first) % FRAMES.step !== 0) return 'frames are 25 + 4n';
  return frames > duration * FRAMES.perSecond
    ? `${frames} frames are longer than the ${duration} seconds of the order`
    : undefined;
}

/** The fields of the body. Frames stand in place of the seconds, which they do not exceed. */
export function toExtraBody({ key, extra = {}, duration, aigcWatermark }: Attempt): Json {
  return {
    duration: extra['frames'] === undefined ? duration : undefined,
    watermark: aigcWatermark,
    [EXPIRES_AFTER]: toMark(key),
    ...extra,
  };
}

/**
 * The seconds after which the upstream gives the work of an attempt up: from one day to two. The upstream shows them in
 * its list, and no other work of the time of a search has them, but for one chance in 86,400.
 */
export function toMark(key: string): number {
  return DAY_S + (hashKey(key) % DAY_S);
}

/** Reports whether the work of an attempt has its mark: the client can choose the seconds. */
export function isMarked(extra: Attempt['extra']): boolean {
  return extra?.[EXPIRES_AFTER] === undefined;
}

/**
 * The ratio of the body. Text does not become `adaptive` at a model of the first generation, which renders 16:9 then. A
 * frame decides the ratio at Seedance 2.5.
 */
export function toRatio({ model, content, ratio }: Attempt): string | undefined {
  if (/seedance-2-5-/.test(model) && hasFrame(content)) return 'adaptive';
  return ratio === 'adaptive' && /seedance-1-0-/.test(model) && listMedia(content).length === 0 ? undefined : ratio;
}

function hasFrame(content: readonly AttemptItem[]): boolean {
  return listMedia(content).some(({ role }) => role === 'first_frame' || role === 'last_frame');
}
