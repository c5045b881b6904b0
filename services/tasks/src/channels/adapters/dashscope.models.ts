import type { Attempt } from '@reelgate/adapter-kit';
import {
  buildModelOptions,
  extendRowSchema,
  findModel,
  findUnfit,
  parseDataUrl,
  sortMedia,
} from '@reelgate/adapter-kit/kit';
import type { ModelRow } from '@reelgate/adapter-kit/kit';

/** A model of DashScope. Its id names its input: text, an image, references. */
export interface DashscopeModel extends ModelRow {
  /** The form of the size: pixels, the resolution, or the resolution with the ratio. */
  readonly size: 'pixels' | 'resolution' | 'resolution and ratio';
  /** The field of the input that holds the media. */
  readonly media?: 'img_url' | 'reference_urls' | 'media' | undefined;
  readonly needsReference?: boolean | undefined;
  /** The most references of all kinds together. */
  readonly references?: number | undefined;
  /** The extra fields that the model takes. */
  readonly extra?: readonly string[] | undefined;
}

/** Pixels by resolution and ratio. */
export const PIXELS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '480P': { '16:9': '832*480', '9:16': '480*832', '1:1': '624*624' },
  '720P': { '16:9': '1280*720', '9:16': '720*1280', '1:1': '960*960', '4:3': '1088*832', '3:4': '832*1088' },
  '1080P': { '16:9': '1920*1080', '9:16': '1080*1920', '1:1': '1440*1440', '4:3': '1632*1248', '3:4': '1248*1632' },
};

const HD = ['720P', '1080P'];
const ALL = ['480P', '720P', '1080P'];
const FIVE = ['16:9', '9:16', '1:1', '4:3', '3:4'];
/** The API cuts a longer text silently. */
const PROMPT = { promptMax: 5000 } as const;
const IN_PIXELS = { ...PROMPT, size: 'pixels', ratios: FIVE } as const satisfies DashscopeModel;
const WITH_RATIO = { ...PROMPT, size: 'resolution and ratio', ratios: FIVE } as const satisfies DashscopeModel;
const FROM_FRAME = {
  ...PROMPT,
  size: 'resolution',
  frames: 'first',
  needsFrame: true,
  ratioFollowsFrame: true,
  ratios: FIVE,
} as const satisfies DashscopeModel;
const WAN_2 = { extra: ['seed', 'prompt_extend', 'negative_prompt'] } as const;
const WAN_3 = {
  ...WITH_RATIO,
  ratios: [...FIVE, '21:9', 'adaptive'],
  seconds: { least: 2, most: 30 },
  resolutions: ALL,
  media: 'media',
  frames: 'first and last',
  images: 10,
  videos: 5,
  audios: 5,
  extra: ['seed', 'prompt_extend'],
} as const satisfies DashscopeModel;

/** A text for Wan 2.5 and 2.6 is cut earlier. */
const OLD_PROMPT = { promptMax: 1500 } as const;
const WAN_25 = { ...WAN_2, ...OLD_PROMPT, seconds: [5, 10], resolutions: ALL } as const;
const WAN_27 = { ...WAN_2, seconds: { least: 2, most: 15 }, resolutions: HD } as const;
const WAN_26 = { ...WAN_27, ...OLD_PROMPT } as const;
const WAN_26_FRAME: DashscopeModel = { ...FROM_FRAME, ...WAN_26, media: 'img_url' };
const WAN_26_REFERENCES: DashscopeModel = {
  ...IN_PIXELS,
  ...WAN_26,
  seconds: { least: 2, most: 10 },
  media: 'reference_urls',
  needsReference: true,
  images: 5,
  videos: 3,
  references: 5,
};

/** The three models of a version of HappyHorse. */
function listHappyHorse(version: string, resolutions: readonly string[]): Readonly<Record<string, DashscopeModel>> {
  const row = { seconds: { least: 3, most: 15 }, resolutions, extra: ['seed'] };
  return {
    [`happyhorse-${version}-t2v`]: { ...WITH_RATIO, ...row },
    [`happyhorse-${version}-i2v`]: { ...FROM_FRAME, ...row, media: 'media' },
    [`happyhorse-${version}-r2v`]: { ...WITH_RATIO, ...row, media: 'media', needsReference: true, images: 9 },
  };
}

/** The models of the API, by their ids. */
export const DASHSCOPE_MODELS: Readonly<Record<string, DashscopeModel>> = {
  'wan2.5-t2v-preview': { ...IN_PIXELS, ...WAN_25 },
  'wan2.5-i2v-preview': { ...FROM_FRAME, ...WAN_25, media: 'img_url' },
  'wan2.6-t2v': { ...IN_PIXELS, ...WAN_26 },
  'wan2.6-i2v': WAN_26_FRAME,
  'wan2.6-i2v-flash': WAN_26_FRAME,
  'wan2.6-r2v': WAN_26_REFERENCES,
  'wan2.6-r2v-flash': WAN_26_REFERENCES,
  'wan2.7-t2v': { ...WITH_RATIO, ...WAN_27 },
  'wan2.7-i2v': { ...FROM_FRAME, ...WAN_27, media: 'media', frames: 'first and last' },
  'wan2.7-r2v': {
    ...WITH_RATIO,
    ...WAN_27,
    seconds: { least: 2, most: 10 },
    media: 'media',
    needsReference: true,
    images: 5,
    videos: 5,
    references: 5,
    frames: 'first',
    mixes: true,
  },
  'wan3.0-video': WAN_3,
  'wan3.0-video-prime': WAN_3,
  ...listHappyHorse('1.0', HD),
  ...listHappyHorse('1.1', ALL),
};

export const DASHSCOPE_OPTIONS = buildModelOptions(
  extendRowSchema(
    {
      size: { enum: ['pixels', 'resolution', 'resolution and ratio'] },
      media: { enum: ['img_url', 'reference_urls', 'media'] },
      needsReference: { type: 'boolean' },
      references: { type: 'integer', minimum: 0 },
      extra: { type: 'array', items: { enum: ['seed', 'prompt_extend', 'negative_prompt'] } },
    },
    ['size'],
  ),
);

const SNAPSHOT = /-\d{4}-\d\d-\d\d$/;

/** The row of a model. One with a date is a snapshot of the model without it. */
export function findDashscopeModel(
  models: Readonly<Record<string, DashscopeModel>>,
  id: string,
): DashscopeModel | undefined {
  return findModel(models, id) ?? findModel(models, id.replace(SNAPSHOT, ''));
}

/** Returns the reason why a model cannot express an order; undefined if it can. */
export function findDashscopeUnfit(model: DashscopeModel, attempt: Attempt): string | undefined {
  const { images, videos, audios } = sortMedia(attempt.content);
  const { needsReference = false, references = Infinity } = model;
  const count = images.length + videos.length + audios.length;
  const unfit = findUnfit(model, attempt);
  if (unfit !== undefined) return unfit;
  if (needsReference && count === 0) return 'needs a reference';
  if (count > references) return `takes at most ${references} references`;
  if ([...videos, ...audios].some((url) => parseDataUrl(url) !== undefined))
    return 'takes videos and audio by URL only';
  return undefined;
}
