import type { Schema } from '../../domain/schema.ts';
import { controlSchemas } from './decode.ts';
import type { GenerationsBody } from './decode.ts';
import { generationContent, mediaContent, nonEmpty, orNull, words } from '../wire/documented-content.ts';
import { aspectRatio, duration, ratio, resolution, size } from '../wire/documented-frame.ts';
import { clientSchemas, documentedBound, documentedWebhookUrl } from '../wire/flat-fields.ts';
import { pictureSchemas } from '../wire/pictures.ts';

const SIDE_MAX = 99_999;

const model: Schema = { ...nonEmpty, description: 'The id of the model.', examples: ['Alpha-H3'] };
const side: Schema = { type: 'integer', minimum: 1, maximum: SIDE_MAX };
const requireField = (name: string): Schema => ({
  required: [name],
  properties: { [name]: { not: { type: 'null' } } },
});

/** A field of the body that is not documented does not compile. */
const common = orNull({
  ...pictureSchemas,
  duration,
  seconds: { ...duration, description: 'An alias of duration.' },
  size,
  ratio,
  aspect_ratio: aspectRatio,
  resolution,
  width: { ...side, description: 'With height, an alternative to size.' },
  height: side,
  ...clientSchemas,
  ...controlSchemas,
  response_format: { const: 'url', description: 'The answer has a link.' },
  source_task_id: { type: 'string', maxLength: 0, description: 'Empty: this path only generates.' },
  action: { enum: ['generation', 'generate'], description: 'This path only generates.' },
  webhook_url: documentedWebhookUrl,
  ...documentedBound,
} satisfies Readonly<Record<Exclude<keyof GenerationsBody, 'model' | 'prompt' | 'content'>, Schema>>);

/** Forbidden combinations: a duration under two names, a size given twice or in part. */
const rules: Schema = {
  title: 'OneLengthOneSize',
  allOf: [
    { not: { allOf: [requireField('seconds'), requireField('duration')] } },
    { not: { allOf: [requireField('size'), { anyOf: [requireField('width'), requireField('height')] }] } },
    {
      anyOf: [
        { allOf: [requireField('width'), requireField('height')] },
        { not: { anyOf: [requireField('width'), requireField('height')] } },
      ],
    },
  ],
};

const body = (title: string, required: string, properties: Readonly<Record<string, Schema>>): Schema => ({
  title,
  type: 'object',
  required: ['model', required],
  properties: { model, ...properties, ...common },
  allOf: [rules],
});

/** A field that no schema names is refused, unless a generator of the model takes it. */
export const generationsBody: Schema = {
  title: 'VideoGenerationsCreate',
  anyOf: [
    body('VideoGenerationsByPrompt', 'prompt', {
      prompt: { ...words, description: 'The text that describes the video.' },
      ...orNull({ content: mediaContent }),
    }),
    body('VideoGenerationsByContent', 'content', {
      content: generationContent,
      ...orNull({ prompt: { type: 'string', pattern: '^\\s*$', description: 'Empty: the text is in content.' } }),
    }),
  ],
};
