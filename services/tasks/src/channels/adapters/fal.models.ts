import type { ExtraFields, Json } from '@reelgate/adapter-kit';
import { MODEL_ROW_SCHEMA } from '@reelgate/adapter-kit/kit';
import type { ModelRow } from '@reelgate/adapter-kit/kit';

/** A part of an order that a model takes in a field of its own name. */
export const PARTS = ['duration', 'resolution', 'ratio', 'first', 'last', 'images', 'videos', 'audios'] as const;
export type FalPart = (typeof PARTS)[number];

/** One endpoint of a model, and the names of its input fields. */
export interface FalEndpoint extends ModelRow {
  /** The path after the id of the model; empty, or it begins with `/`. */
  readonly path: string;
  /** The names of the fields. A part without one is never sent. */
  readonly fields: Partial<Readonly<Record<FalPart, string>>>;
  /** The form of a duration: `8`, `"8"` or `"8s"`. Default: `text`. */
  readonly durationAs?: 'number' | 'text' | 'text with s' | undefined;
  /** The word for an adaptive ratio. Absent: it is left out. */
  readonly adaptive?: string | undefined;
  /** The extra fields that the endpoint takes. */
  readonly extra?: readonly string[] | undefined;
  /** Fields with one value, such as sound, which changes the price. */
  readonly fixed?: Readonly<Record<string, string | number | boolean>> | undefined;
}

const USES = ['text', 'frame', 'bothFrames', 'references'] as const;

/** The endpoints of a model by what an order holds. Absent `bothFrames`: `frame` takes both. */
export type FalModel = Partial<Readonly<Record<(typeof USES)[number], FalEndpoint>>>;

/** The owner and the app, under which the work of all endpoints of an app is read. */
export function readApp(model: string): string | undefined {
  return /^[\w-][\w.-]*\/[\w-][\w.-]*(?=\/|$)/.exec(model)?.[0];
}

const SEED_MAX = 2 ** 31 - 1;
const NEGATIVE_PROMPT_MAX = 500;

export const FAL_EXTRA: ExtraFields = {
  seed: { type: 'whole', least: 0, most: SEED_MAX },
  negative_prompt: { type: 'text', charactersMax: NEGATIVE_PROMPT_MAX },
  cfg_scale: { type: 'number', least: 0, most: 1 },
  prompt_optimizer: { type: 'flag' },
  camera_fixed: { type: 'flag' },
};

const TEXT: Json = { type: 'string', minLength: 1 };
const toObjectSchema = (names: readonly string[], schema: Json): Json => ({
  type: 'object',
  additionalProperties: false,
  properties: Object.fromEntries(names.map((name) => [name, schema])),
});

const ENDPOINT_SCHEMA: Json = {
  ...MODEL_ROW_SCHEMA,
  required: ['path', 'fields'],
  properties: {
    ...(MODEL_ROW_SCHEMA['properties'] as Json),
    path: { type: 'string', pattern: String.raw`^(/[\w.-]+)*$` },
    fields: toObjectSchema(PARTS, TEXT),
    durationAs: { enum: ['number', 'text', 'text with s'] },
    adaptive: TEXT,
    extra: { type: 'array', items: { enum: Object.keys(FAL_EXTRA) } },
    fixed: { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] } },
  },
};

/** The JSON Schema of a `FalModel`. */
export const FAL_MODEL_SCHEMA: Json = toObjectSchema(USES, ENDPOINT_SCHEMA);

const WITH_SOUND = { generate_audio: true };
const FRAMED = { duration: 'duration', resolution: 'resolution', ratio: 'aspect_ratio' };

/** The documentation of Veo, not that of this API, limits references to three. */
const VEO = {
  seconds: [4, 6, 8],
  durationAs: 'text with s',
  resolutions: ['720p', '1080p'],
  ratios: ['16:9', '9:16'],
  extra: ['negative_prompt', 'seed'],
  fixed: WITH_SOUND,
} as const;
const VEO_4K = { ...VEO, resolutions: ['720p', '1080p', '4k'] };
const VEO_IMAGES_MAX = 3;

const KLING = {
  seconds: { least: 3, most: 15 },
  extra: ['negative_prompt', 'cfg_scale'],
  fixed: WITH_SOUND,
} as const;

/** The model has one frame. It follows the image, or is 16:9. */
const HAILUO = { seconds: [6, 10], resolutions: ['768p'], extra: ['prompt_optimizer'] };

const SEEDANCE = {
  seconds: { least: 4, most: 12 },
  resolutions: ['480p', '720p', '1080p'],
  ratios: ['21:9', '16:9', '4:3', '1:1', '3:4', '9:16'],
  adaptive: 'auto',
  extra: ['seed', 'camera_fixed'],
  fixed: WITH_SOUND,
};

const WAN = {
  seconds: { least: 2, most: 15 },
  resolutions: ['720p', '1080p'],
  ratios: ['16:9', '9:16', '1:1', '4:3', '3:4'],
  promptMax: 5000,
  extra: ['negative_prompt', 'seed'],
};
/** The documentation of Wan, not that of this API, limits references to five. */
const WAN_REFERENCES_MAX = 5;

/** The models that this adapter supports, by what their endpoints have in common. */
export const FAL_MODELS: Readonly<Record<string, FalModel>> = {
  'fal-ai/veo3.1': {
    text: { ...VEO, path: '', fields: FRAMED },
    frame: {
      ...VEO,
      path: '/image-to-video',
      frames: 'first',
      adaptive: 'auto',
      fields: { ...FRAMED, first: 'image_url' },
    },
    bothFrames: {
      ...VEO_4K,
      path: '/first-last-frame-to-video',
      frames: 'first and last',
      adaptive: 'auto',
      fields: { ...FRAMED, first: 'first_frame_url', last: 'last_frame_url' },
    },
    references: {
      ...VEO_4K,
      path: '/reference-to-video',
      images: VEO_IMAGES_MAX,
      extra: [],
      fields: { ...FRAMED, images: 'image_urls' },
    },
  },
  'fal-ai/kling-video/v3/pro': {
    text: {
      ...KLING,
      path: '/text-to-video',
      ratios: ['16:9', '9:16', '1:1'],
      fields: { duration: 'duration', ratio: 'aspect_ratio' },
    },
    frame: {
      ...KLING,
      path: '/image-to-video',
      frames: 'first and last',
      fields: { duration: 'duration', first: 'start_image_url', last: 'end_image_url' },
    },
  },
  'fal-ai/minimax/hailuo-2.3/standard': {
    text: { ...HAILUO, path: '/text-to-video', ratios: ['16:9'], fields: { duration: 'duration' } },
    frame: {
      ...HAILUO,
      path: '/image-to-video',
      frames: 'first',
      fields: { duration: 'duration', first: 'image_url' },
    },
  },
  'fal-ai/bytedance/seedance/v1.5/pro': {
    text: { ...SEEDANCE, path: '/text-to-video', fields: FRAMED },
    frame: {
      ...SEEDANCE,
      path: '/image-to-video',
      frames: 'first and last',
      fields: { ...FRAMED, first: 'image_url', last: 'end_image_url' },
    },
  },
  'fal-ai/wan/v2.7': {
    text: { ...WAN, path: '/text-to-video', fields: FRAMED },
    frame: {
      ...WAN,
      path: '/image-to-video',
      frames: 'first and last',
      ratioFollowsFrame: true,
      fields: { duration: 'duration', resolution: 'resolution', first: 'image_url', last: 'end_image_url' },
    },
    references: {
      ...WAN,
      path: '/reference-to-video',
      seconds: { least: 2, most: 10 },
      images: WAN_REFERENCES_MAX,
      videos: WAN_REFERENCES_MAX,
      fields: { ...FRAMED, images: 'reference_image_urls', videos: 'reference_video_urls' },
    },
  },
};
