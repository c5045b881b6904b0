import type { ModelRow } from '@reelgate/adapter-kit/kit';
import { MODEL_ROW_SCHEMA } from '@reelgate/adapter-kit/kit';
import type { Json } from '@reelgate/adapter-kit';

/** A model of this API. It can do less with references. */
export interface XaiRow extends ModelRow {
  /** The members that replace the members of the row if the order has references. */
  readonly withReferences?: ModelRow | undefined;
}

export const XAI_ROW_SCHEMA: Json = {
  ...MODEL_ROW_SCHEMA,
  properties: { ...(MODEL_ROW_SCHEMA['properties'] as Json), withReferences: MODEL_ROW_SCHEMA },
};

const SECONDS = { least: 1, most: 15 };
const RATIOS = ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3'];
/** Seven images and three voices. The limit of ten seconds is named by one reseller alone. */
const REFERENCES = { images: 7, audios: 3 };
const WITH_REFERENCES: ModelRow = { seconds: { least: 1, most: 10 }, resolutions: ['480p', '720p'] };

/** The models that this adapter supports, by their API ids. */
export const XAI_MODELS: Readonly<Record<string, XaiRow>> = {
  'grok-imagine-video': {
    seconds: SECONDS,
    resolutions: ['480p', '720p'],
    ratios: RATIOS,
    frames: 'first',
    ...REFERENCES,
    withReferences: WITH_REFERENCES,
  },
  'grok-imagine-video-1.5': {
    seconds: SECONDS,
    resolutions: ['480p', '720p', '1080p'],
    ratios: RATIOS,
    frames: 'first and last',
    ...REFERENCES,
    withReferences: WITH_REFERENCES,
  },
};
