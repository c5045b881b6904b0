import type { Schema } from '../../domain/schema.ts';
import { nonEmpty, orNull, words } from '../wire/documented-content.ts';
import { aspectRatio, resolution, size } from '../wire/documented-frame.ts';
import { documentedBound, documentedWebhookUrl } from '../wire/flat-fields.ts';
import { plainSchemas } from './create-body.ts';
import type { CreateBody } from './create-body.ts';

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
export const createBody: Schema = {
  title: 'OpenRouterVideoCreate',
  type: 'object',
  required: ['model', 'prompt'],
  properties,
};
