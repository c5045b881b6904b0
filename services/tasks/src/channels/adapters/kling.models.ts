import type { Attempt, ExtraFields } from '@reelgate/adapter-kit';
import {
  buildModelOptions,
  extendRowSchema,
  findUnfit,
  listMedia,
  MODEL_ROW_SCHEMA,
  sortMedia,
} from '@reelgate/adapter-kit/kit';
import type { ModelRow } from '@reelgate/adapter-kit/kit';

/** A model of Kling. The rows of the cases replace members where an order is one. */
export interface KlingModel extends ModelRow {
  /** `frames`: text goes to /text-to-video and a frame to /image-to-video. `omni`: all goes to /omni-video. */
  readonly route: 'frames' | 'omni';
  /** True if the order decides whether the model adds sound. Other models always do, or never. */
  readonly sound?: boolean | undefined;
  /** True if the model has the field `multi_shot`. */
  readonly multiShot?: boolean | undefined;
  /** A first frame without a last one and without references. */
  readonly frameAlone?: ModelRow | undefined;
  readonly lastFrame?: ModelRow | undefined;
  readonly referenceVideo?: ModelRow | undefined;
}

/**
 * A video has no sound unless an order asks for it. It costs more, so an operator must allow it. Both names mean the
 * same.
 */
export const KLING_EXTRA: ExtraFields = {
  sound: { type: 'word', words: ['on', 'off'], isPriced: true, isForOperators: true },
  generate_audio: { type: 'flag', isPriced: true, isForOperators: true },
};

const CASES = ['frameAlone', 'lastFrame', 'referenceVideo'] as const;

const THREE = {
  seconds: { least: 3, most: 15 },
  resolutions: ['720p', '1080p', '4k'],
  ratios: ['16:9', '9:16', '1:1'],
  ratioFollowsFrame: true,
  frames: 'first and last',
  promptMax: 3072,
} as const satisfies ModelRow;
const TWO = {
  ...THREE,
  route: 'frames',
  seconds: [5, 10],
  resolutions: ['720p', '1080p'],
  promptMax: 2500,
  lastFrame: { resolutions: ['1080p'] },
} as const satisfies KlingModel;
/** Seven images, or a video with four. */
const REFERENCES = { images: 7, videos: 1, mixes: true } as const satisfies ModelRow;

/** The models of the API, by the ids in its paths. */
export const KLING_MODELS: Readonly<Record<string, KlingModel>> = {
  'kling-3.0': { ...THREE, route: 'frames', multiShot: true, sound: true },
  'kling-3.0-turbo': {
    ...THREE,
    route: 'frames',
    resolutions: ['720p', '1080p'],
    frames: 'first',
    frameAlone: { promptMax: 2500 },
  },
  'kling-3.0-omni': {
    ...THREE,
    route: 'omni',
    multiShot: true,
    sound: true,
    ...REFERENCES,
    referenceVideo: { images: 4 },
  },
  'kling-o1': {
    ...THREE,
    route: 'omni',
    seconds: { least: 3, most: 10 },
    resolutions: ['720p', '1080p'],
    promptMax: 2500,
    ...REFERENCES,
    frameAlone: { seconds: [5, 10] },
    lastFrame: { mixes: false },
    referenceVideo: { images: 4 },
  },
  'kling-2.6': TWO,
  'kling-2.5-turbo': TWO,
};

export const KLING_OPTIONS = buildModelOptions(
  extendRowSchema(
    {
      route: { enum: ['frames', 'omni'] },
      sound: { type: 'boolean' },
      multiShot: { type: 'boolean' },
      ...Object.fromEntries(CASES.map((name) => [name, MODEL_ROW_SCHEMA])),
    },
    ['route'],
  ),
);

/** Returns the reason why a model cannot express an order; undefined if it can. */
export function findKlingUnfit(model: KlingModel, attempt: Attempt): string | undefined {
  const media = listMedia(attempt.content);
  if (media.length === 0) return findUnfit(model, attempt);
  const { first, last, images, videos } = sortMedia(media);
  const holds = {
    frameAlone: first !== undefined && last === undefined && images.length + videos.length === 0,
    lastFrame: last !== undefined,
    referenceVideo: videos.length > 0,
  };
  const rows = CASES.map((name) => (holds[name] ? model[name] : undefined));
  return findUnfit(Object.assign({}, model, ...rows) as ModelRow, attempt);
}
