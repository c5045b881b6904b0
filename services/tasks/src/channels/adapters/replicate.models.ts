import type { ExtraValue, Json } from '@reelgate/adapter-kit';
import { extendRowSchema } from '@reelgate/adapter-kit/kit';
import type { ModelRow } from '@reelgate/adapter-kit/kit';

/** The names of the input fields of a model. A part of an order without a name cannot be sent. */
export interface InputNames {
  /** Default: `prompt`. */
  readonly prompt?: string | undefined;
  readonly duration?: string | undefined;
  readonly resolution?: string | undefined;
  readonly ratio?: string | undefined;
  readonly firstFrame?: string | undefined;
  readonly lastFrame?: string | undefined;
  readonly images?: string | undefined;
  readonly videos?: string | undefined;
  readonly audios?: string | undefined;
}

/**
 * A model with the names of its input fields. Resolutions and ratios without a name are the defaults of the model, so
 * they are checked and not sent.
 */
export interface ReplicateModel extends ModelRow {
  readonly inputs: InputNames;
  /** The lengths at a resolution, in place of `seconds`. */
  readonly secondsAt?: Readonly<Record<string, readonly number[]>> | undefined;
  /** The declared extra fields that the model takes. Models refuse inputs that they do not know. */
  readonly extra?: readonly string[] | undefined;
  /** Values of every order, such as one that decides the price. */
  readonly always?: Readonly<Record<string, ExtraValue>> | undefined;
}

/** `owner/name`, or `owner/name:version` of a model that is not official. */
export const MODEL_ID = /^([\w-][\w.-]*)\/([\w-][\w.-]*)(?::([\w-]+))?$/;

const NAME: Json = { type: 'string', minLength: 1 };
export const INPUT_PARTS: readonly (keyof InputNames)[] = [
  'prompt',
  'duration',
  'resolution',
  'ratio',
  'firstFrame',
  'lastFrame',
  'images',
  'videos',
  'audios',
];

const ROW_SCHEMA = extendRowSchema(
  {
    inputs: {
      type: 'object',
      additionalProperties: false,
      properties: Object.fromEntries(INPUT_PARTS.map((part) => [part, NAME])),
    },
    secondsAt: {
      type: 'object',
      additionalProperties: { type: 'array', items: { type: 'integer', minimum: 1 }, minItems: 1 },
    },
    extra: { type: 'array', items: NAME },
    always: {
      type: 'object',
      additionalProperties: { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] },
    },
  },
  ['inputs'],
);

export const REPLICATE_OPTIONS: Json = {
  type: 'object',
  additionalProperties: false,
  properties: {
    models: {
      type: 'object',
      propertyNames: { type: 'string', pattern: MODEL_ID.source },
      additionalProperties: ROW_SCHEMA,
    },
  },
};

/** The models that this adapter supports without further configuration, all of them official. */
export const REPLICATE_MODELS: Readonly<Record<string, ReplicateModel>> = {
  'google/veo-3.1': {
    seconds: [4, 6, 8],
    resolutions: ['720p', '1080p'],
    ratios: ['16:9', '9:16'],
    frames: 'first and last',
    images: 3,
    inputs: {
      duration: 'duration',
      resolution: 'resolution',
      ratio: 'aspect_ratio',
      firstFrame: 'image',
      lastFrame: 'last_frame',
      images: 'reference_images',
    },
    extra: ['negative_prompt', 'seed'],
    // A video with sound costs more, so the choice is not left to a default that can change.
    always: { generate_audio: true },
  },
  'kwaivgi/kling-v2.5-turbo-pro': {
    seconds: [5, 10],
    // The mode `pro` of Kling renders 1080p, and the model has no input for another resolution.
    resolutions: ['1080p'],
    ratios: ['16:9', '9:16', '1:1'],
    ratioFollowsFrame: true,
    frames: 'first and last',
    inputs: { duration: 'duration', ratio: 'aspect_ratio', firstFrame: 'start_image', lastFrame: 'end_image' },
    extra: ['negative_prompt'],
  },
  'minimax/hailuo-2.3': {
    seconds: [6, 10],
    secondsAt: { '1080p': [6] },
    resolutions: ['768p', '1080p'],
    ratios: ['16:9'],
    ratioFollowsFrame: true,
    frames: 'first',
    inputs: { duration: 'duration', resolution: 'resolution', firstFrame: 'first_frame_image' },
    extra: ['prompt_optimizer'],
  },
  'bytedance/seedance-2.0-fast': {
    resolutions: ['480p', '720p'],
    ratios: ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9'],
    ratioFollowsFrame: true,
    frames: 'first',
    inputs: { duration: 'duration', resolution: 'resolution', ratio: 'aspect_ratio', firstFrame: 'image' },
    extra: ['seed'],
  },
  'wan-video/wan-2.7-t2v': {
    seconds: { least: 2, most: 15 },
    resolutions: ['720p', '1080p'],
    ratios: ['16:9', '9:16', '1:1'],
    inputs: { duration: 'duration', resolution: 'resolution', ratio: 'aspect_ratio' },
    extra: ['negative_prompt', 'seed'],
  },
};
