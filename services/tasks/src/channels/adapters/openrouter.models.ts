import type { Attempt, Json } from '@reelgate/adapter-kit';
import { findUnfit, MODEL_ROW_SCHEMA } from '@reelgate/adapter-kit/kit';
import type { ModelRow } from '@reelgate/adapter-kit/kit';

/** The `options` of a channel that this adapter reads. */
export interface OpenRouterOptions {
  /** The limits of single models, by their ids. A member that is absent has the value of any model. */
  readonly models?: Readonly<Record<string, ModelRow>> | undefined;
  /** With or without sound, where that changes the price. Default: as the model does. */
  readonly generate_audio?: boolean | undefined;
}

export const OPENROUTER_OPTIONS: Json = {
  type: 'object',
  additionalProperties: false,
  properties: {
    models: { type: 'object', additionalProperties: MODEL_ROW_SCHEMA },
    generate_audio: { type: 'boolean' },
  },
};

/** The upstream decides how many references a model accepts. Next to frames it ignores them all. */
const ANY_NUMBER = Number.MAX_SAFE_INTEGER;
/** The limits that the API has for any model. It names models openly, so a model needs no row. */
const ANY_MODEL: ModelRow = {
  resolutions: ['360p', '480p', '720p', '768p', '1080p', '1K', '2K', '4K'],
  ratios: ['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3', '21:9', '9:21'],
  frames: 'first and last',
  images: ANY_NUMBER,
  videos: ANY_NUMBER,
  audios: ANY_NUMBER,
};

/** Returns the reason why an order cannot be expressed; undefined if it can. */
export function describeUnfit({ models = {} }: OpenRouterOptions, attempt: Attempt): string | undefined {
  const row = Object.hasOwn(models, attempt.model) ? models[attempt.model] : undefined;
  return findUnfit(row === undefined ? ANY_MODEL : { ...ANY_MODEL, ...row }, attempt);
}
