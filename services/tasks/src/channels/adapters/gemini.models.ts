import type { Attempt, Json } from '@reelgate/adapter-kit';
import { findUnfit, listMedia, MODEL_ROW_SCHEMA, readObject } from '@reelgate/adapter-kit/kit';
import type { ModelRow } from '@reelgate/adapter-kit/kit';

/** A model of the Gemini API. */
export interface GeminiModel extends ModelRow {
  /** `operation`: the model is called by `predictLongRunning`, as Veo was. Default: by the Interactions API. */
  readonly form?: 'interaction' | 'operation' | undefined;
  /** The only length in seconds of a video with references or of a resolution other than 720p. */
  readonly fullLength?: number | undefined;
}

const WIDE_OR_TALL = ['16:9', '9:16'];
const VEO: GeminiModel = {
  form: 'operation',
  seconds: [4, 6, 8],
  fullLength: 8,
  resolutions: ['720p', '1080p', '4k'],
  ratios: WIDE_OR_TALL,
  frames: 'first and last',
  images: 3,
};

/**
 * The models by their API ids. The reference videos of Omni are of three seconds, which the API checks. Google has
 * very likely ended Veo here on 2026-10-22; its rows are for gateways that go on with the old form.
 */
export const GEMINI_MODELS: Readonly<Record<string, GeminiModel>> = {
  'gemini-omni-1.1-flash': {
    seconds: { least: 3, most: 10 },
    resolutions: ['360p', '720p', '1080p', '4k'],
    ratios: WIDE_OR_TALL,
    frames: 'first',
    images: 3,
    videos: 3,
  },
  'veo-3.1-generate-preview': VEO,
  'veo-3.1-fast-generate-preview': VEO,
  'veo-3.1-lite-generate-preview': { ...VEO, resolutions: ['720p', '1080p'], images: 0 },
};

/** `options` of a channel: further models, each as a row. */
export const GEMINI_OPTIONS: Json = {
  type: 'object',
  additionalProperties: false,
  properties: {
    models: {
      type: 'object',
      additionalProperties: {
        ...MODEL_ROW_SCHEMA,
        properties: {
          ...readObject(MODEL_ROW_SCHEMA['properties']),
          form: { enum: ['interaction', 'operation'], default: 'interaction' },
          fullLength: { type: 'integer', minimum: 1 },
        },
      },
    },
  },
};

/** Returns the reason why a model cannot express an order; undefined if it can. */
export function describeUnfit(model: GeminiModel, attempt: Attempt): string | undefined {
  return findUnfit(model, attempt) ?? describeUnfitLength(model, attempt) ?? describeUnfitUrl(model, attempt);
}

function describeUnfitLength({ fullLength }: GeminiModel, attempt: Attempt): string | undefined {
  const { content, duration, resolution = '720p' } = attempt;
  if (fullLength === undefined || duration === undefined || duration === fullLength) return undefined;
  const hasReference = listMedia(content).some(({ role }) => role?.startsWith('reference_') === true);
  return hasReference || resolution.toLowerCase() !== '720p'
    ? `makes no video of ${duration} seconds with references or at ${resolution}`
    : undefined;
}

/** The Interactions API reads images from https, but no videos. `predictLongRunning` reads neither. */
function describeUnfitUrl({ form }: GeminiModel, { content }: Attempt): string | undefined {
  const isRemote = listMedia(content).some(
    ({ media, url }) => !url.startsWith('data:') && (form === 'operation' || media === 'video'),
  );
  return isRemote ? 'takes such media inside the request only: set `references: inline`' : undefined;
}
