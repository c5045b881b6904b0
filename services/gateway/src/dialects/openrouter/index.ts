import { newAnswer } from '../../domain/schema.ts';
import type { Schema } from '../../domain/schema.ts';
import type { Dialect } from '../dialect.ts';
import { decodeOpenRouter, plainSchemas } from './decode.ts';
import type { CreateBody } from './decode.ts';
import { createdSchema, encodeCreated, encodeVideo, videoSchema } from './encode.ts';
import { nonEmpty, orNull, words, aspectRatio, resolution, size } from '../wire/documented-content.ts';
import { documentedBound, documentedWebhookUrl } from '../wire/flat-fields.ts';

const SECONDS_MAX = 2 ** 31 - 1;

/** A field of the body that is not documented does not compile. */
const properties = {
  model: { ...nonEmpty, description: 'The id of the model.', examples: ['Alpha-H3'] },
  prompt: { ...words, description: 'The text that describes the video.' },
  ...orNull({
    duration: {
      type: 'integer',
      minimum: 1,
      maximum: SECONDS_MAX,
      description: 'The length in whole seconds, within the range of the model.',
      examples: [5],
    },
    resolution: {
      ...resolution,
      title: 'ResolutionInAnyCase',
      description: 'Such as 768P or 768p. It overrides size.',
    },
    aspect_ratio: { ...aspectRatio, title: 'AspectRatioAlone', description: 'Such as 16:9. It overrides size.' },
    size,
    ...plainSchemas,
    webhook_url: documentedWebhookUrl,
    ...documentedBound,
  } satisfies Readonly<Record<Exclude<keyof CreateBody, 'model' | 'prompt'>, Schema>>),
};

/** A field that no schema names is refused, unless a generator of the model takes it. */
const createBody: Schema = {
  title: 'OpenRouterVideoCreate',
  type: 'object',
  required: ['model', 'prompt'],
  properties,
};

/** The videos API of OpenRouter. Its clients have the base address `/api/v1`. */
export const openrouter: Dialect = {
  name: 'Videos (OpenRouter shape)',
  refusals: { envelope: 'openrouter', from: '/api/v1' },
  creates: [
    {
      path: '/api/v1/videos',
      operationId: 'createOpenRouterVideo',
      summary: 'Create a generation in the shape of OpenRouter',
      description:
        'A field that is not listed here is refused with `unknown_field`, unless a generator of the model takes it with ' +
        'this value, such as `negative_prompt`.',
      status: 202,
      body: createBody,
      decode: decodeOpenRouter,
      answer: newAnswer(createdSchema, encodeCreated),
    },
  ],
  reads: [
    {
      path: '/api/v1/videos/{task_id}',
      operationId: 'getOpenRouterVideo',
      summary: 'Read a task',
      answer: newAnswer(videoSchema, encodeVideo),
      showsCharge: true,
    },
  ],
  lists: [],
  ends: [],
};
