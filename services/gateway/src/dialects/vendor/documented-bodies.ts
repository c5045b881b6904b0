import type { Schema } from '../../domain/schema.ts';
import { ALPHA, REGENERATED, baseContent, generationContent, nonEmpty, ratioRule } from '../wire/documented-content.ts';

const RATIOS = ['adaptive', '21:9', '16:9', '4:3', '1:1', '3:4', '9:16'];
const INT32_MAX = 2 ** 31 - 1;

const strictObject = (
  title: string,
  required: readonly string[],
  properties: Readonly<Record<string, Schema>>,
  more: Schema = {},
): Schema => ({ title, type: 'object', required, additionalProperties: false, properties, ...more });

export const generationBody = strictObject(
  'VideoGeneration',
  ['model', 'content', 'duration', 'resolution'],
  {
    model: { ...nonEmpty, description: 'The id of the model.', examples: ['Alpha-H3'] },
    content: generationContent,
    duration: {
      type: 'integer',
      minimum: 1,
      maximum: INT32_MAX,
      description: 'Whole seconds within the range of the model.',
      examples: [5],
    },
    resolution: { ...nonEmpty, description: 'A resolution of the model, such as 768P or 2K.', examples: ['768P'] },
    ratio: {
      ...nonEmpty,
      description: 'A ratio of the model. Without media it is required and must not be adaptive.',
      examples: ['16:9'],
    },
  },
  ratioRule,
);

const watermark: Schema = { type: 'boolean', description: 'Whether the result has the watermark.' };

export const regenerationBody: Schema = {
  title: 'VideoRegeneration',
  description: 'Mode A regenerates a finished task, mode B a video.',
  oneOf: [
    strictObject('VideoRegenerationByTask', ['model', 'resolution', 'source_task_id'], {
      model: ALPHA,
      resolution: REGENERATED,
      source_task_id: { ...nonEmpty, maxLength: 64, description: 'Mode A: the id of a finished 768P task.' },
      aigc_watermark: watermark,
      content: { type: 'array', maxItems: 0 },
    }),
    strictObject('VideoRegenerationByVideo', ['model', 'resolution', 'content'], {
      model: ALPHA,
      resolution: REGENERATED,
      content: baseContent,
      aigc_watermark: watermark,
      source_task_id: { type: 'string', maxLength: 0 },
    }),
  ],
};

export const contextIrBody = strictObject(
  'ContextIr',
  ['model', 'content', 'duration'],
  {
    model: ALPHA,
    content: generationContent,
    duration: { type: 'integer', minimum: 4, maximum: 15, description: 'Whole seconds.' },
    ratio: { enum: RATIOS, description: 'Without media it is required and must not be adaptive.' },
    callback_url: {
      ...nonEmpty,
      description: 'Passed to the generator unchanged; the generator reports to this URL itself.',
    },
  },
  ratioRule,
);
