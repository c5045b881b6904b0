import type { Schema } from '../dialect.ts';
import { contentSchema } from '../wire/content-items.ts';
import type { WireItem } from '../wire/content-items.ts';
import { bodyValidator } from '../wire/body-validator.ts';

const strictObject = (required: readonly string[], properties: Readonly<Record<string, Schema>>): Schema => ({
  type: 'object',
  required,
  additionalProperties: false,
  properties,
});

const model: Schema = { type: 'string', description: 'The id of the model.', examples: ['Alpha-H3'] };
const alpha: Schema = { type: 'string', description: 'Exactly Alpha-H3.', examples: ['Alpha-H3'] };
const duration: Schema = {
  type: 'integer',
  description: 'Whole seconds within the range of the model.',
  examples: [5],
};
const resolution: Schema = {
  type: 'string',
  description: 'A resolution of the model, such as 768P or 2K.',
  examples: ['768P'],
};
const ratio: Schema = {
  type: 'string',
  description: 'A ratio of the model. Without media it is required and must not be adaptive.',
  examples: ['16:9'],
};

export interface GenerationBody {
  readonly model: string;
  readonly content: readonly WireItem[];
  readonly duration: number;
  readonly resolution: string;
  readonly ratio?: string;
}

const generationSchema = strictObject(['model', 'content', 'duration', 'resolution'], {
  model,
  content: contentSchema,
  duration,
  resolution,
  ratio,
});
export const readGeneration = bodyValidator<GenerationBody>(generationSchema);

export interface RegenerationBody {
  readonly model: string;
  readonly resolution: string;
  readonly source_task_id?: string;
  readonly content?: readonly WireItem[];
  readonly aigc_watermark?: boolean;
}

const regenerationSchema = strictObject(['model', 'resolution'], {
  model: alpha,
  resolution: { type: 'string', description: 'Exactly 2K.', examples: ['2K'] },
  source_task_id: { type: 'string', description: 'Mode A: the id of a finished 768P task.' },
  content: {
    ...contentSchema,
    description: 'Mode B: one base_video, the final prompt of that video and its reference media.',
  },
  aigc_watermark: { type: 'boolean' },
});
export const readRegeneration = bodyValidator<RegenerationBody>(regenerationSchema);

export interface ContextIrBody {
  readonly model: string;
  readonly content: readonly WireItem[];
  readonly duration: number;
  readonly ratio?: string;
  readonly callback_url?: string;
}

const contextIrSchema = strictObject(['model', 'content', 'duration'], {
  model: alpha,
  content: contentSchema,
  duration: { ...duration, description: 'Whole seconds from 4 to 15.' },
  ratio,
  callback_url: {
    type: 'string',
    description: 'Passed to the generator unchanged; the generator reports to this URL itself.',
  },
});
export const readContextIr = bodyValidator<ContextIrBody>(contextIrSchema);
