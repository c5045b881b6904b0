import { objectSchema } from '../../domain/schema.ts';
import type { Schema } from '../../domain/schema.ts';
import { contentSchema } from '../wire/content-items.ts';
import { bodyValidator } from '../wire/body-validator.ts';

const model = { type: 'string', description: 'The id of the model.', examples: ['Alpha-H3'] } as const satisfies Schema;
const alpha = { type: 'string', description: 'Exactly Alpha-H3.', examples: ['Alpha-H3'] } as const satisfies Schema;
const duration = {
  type: 'integer',
  description: 'Whole seconds within the range of the model.',
  examples: [5],
} as const satisfies Schema;
const resolution = {
  type: 'string',
  description: 'A resolution of the model, such as 768P or 2K.',
  examples: ['768P'],
} as const satisfies Schema;
const ratio = {
  type: 'string',
  description: 'A ratio of the model. Without media it is required and must not be adaptive.',
  examples: ['16:9'],
} as const satisfies Schema;

export const readGeneration = bodyValidator(
  objectSchema(
    {
      model,
      content: contentSchema,
      duration,
      resolution,
      ratio,
    },
    ['ratio'],
  ),
);

export const readRegeneration = bodyValidator(
  objectSchema(
    {
      model: alpha,
      resolution: { type: 'string', description: 'Exactly 2K.', examples: ['2K'] },
      source_task_id: { type: 'string', description: 'Mode A: the id of a finished 768P task.' },
      content: {
        ...contentSchema,
        description: 'Mode B: one base_video, the final prompt of that video and its reference media.',
      },
      aigc_watermark: { type: 'boolean' },
    },
    ['source_task_id', 'content', 'aigc_watermark'],
  ),
);

export const readContextIr = bodyValidator(
  objectSchema(
    {
      model: alpha,
      content: contentSchema,
      duration: { ...duration, description: 'Whole seconds from 4 to 15.' },
      ratio,
      callback_url: {
        type: 'string',
        description: 'Passed to the generator unchanged; the generator reports to this URL itself.',
      },
    },
    ['ratio', 'callback_url'],
  ),
);
