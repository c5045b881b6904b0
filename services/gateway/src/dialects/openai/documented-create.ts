import type { Schema } from '../../domain/schema.ts';
import {
  ALPHA,
  REGENERATED,
  baseContent,
  generationContent,
  mediaContent,
  nonEmpty,
  orNull,
  words,
  aspectRatio,
  duration,
  ratio,
  resolution,
  size,
} from '../wire/documented-content.ts';
import { clientSchemas, documentedBound, documentedWebhookUrl } from '../wire/flat-fields.ts';
import { pictureSchemas, pictureTexts } from '../wire/pictures.ts';

const model: Schema = { ...nonEmpty, description: 'The id of the model.', examples: ['Alpha-H3'] };
const prompt: Schema = { ...words, description: 'The text that describes the video.' };
const absent: Schema = { type: 'string', maxLength: 0 };
const blank: Schema = { type: 'string', pattern: '^\\s*$', description: 'Empty: the text is in content.' };
const nothing: Schema = { type: 'array', maxItems: 0 };
const regenerate: Schema = { enum: ['regeneration', 'regenerate'] };
const aigcWatermark: Schema = { type: 'boolean', description: 'Whether the result has the watermark.' };

/** The fields of a generation besides model and content. `seconds` and `duration` must not be sent together. */
const frame = {
  seconds: duration,
  size,
  ratio,
  aspect_ratio: aspectRatio,
  resolution,
  action: { enum: ['generation', 'generate'] },
  source_task_id: absent,
  ...pictureSchemas,
  ...clientSchemas,
  webhook_url: documentedWebhookUrl,
  ...documentedBound,
};
const durationAlias: Schema = { ...duration, description: 'An alias of seconds.' };
const oneDuration: Schema = {
  not: {
    required: ['seconds', 'duration'],
    properties: { seconds: { not: { type: 'null' } }, duration: { not: { type: 'null' } } },
  },
};

/** The kinds of body. A field that no schema names is refused, unless a generator of the model takes it. */
const generationOfWords: Schema = {
  title: 'VideoCreateByPrompt',
  type: 'object',
  required: ['model', 'prompt'],
  ...oneDuration,
  properties: {
    model,
    prompt,
    ...orNull({ ...frame, duration: durationAlias, content: mediaContent }),
  },
};
const generationOfContent: Schema = {
  title: 'VideoCreateByContent',
  type: 'object',
  required: ['model', 'content'],
  ...oneDuration,
  properties: {
    model,
    content: generationContent,
    ...orNull({ ...frame, duration: durationAlias, prompt: blank }),
  },
};
const regenerationOfTask: Schema = {
  title: 'VideoCreateAgainByTask',
  type: 'object',
  required: ['model', 'source_task_id'],
  properties: {
    model: ALPHA,
    source_task_id: {
      ...nonEmpty,
      maxLength: 64,
      description: 'The id of a finished 768P task to render again at 2K.',
    },
    ...orNull({
      resolution: REGENERATED,
      action: regenerate,
      content: nothing,
      aigc_watermark: aigcWatermark,
      prompt: { type: 'string', description: 'Ignored: the prompt of the source task applies.' },
      ...clientSchemas,
      webhook_url: documentedWebhookUrl,
      ...documentedBound,
    }),
    input_reference: { type: 'null' },
  },
};
const regenerationOfVideo: Schema = {
  title: 'VideoCreateAgainByVideo',
  type: 'object',
  required: ['model', 'content'],
  properties: {
    model: ALPHA,
    content: baseContent,
    ...orNull({
      resolution: REGENERATED,
      action: regenerate,
      source_task_id: absent,
      aigc_watermark: aigcWatermark,
      prompt: blank,
      ...pictureSchemas,
      ...clientSchemas,
      webhook_url: documentedWebhookUrl,
      ...documentedBound,
    }),
  },
};

export const createBody: Schema = {
  title: 'VideoCreate',
  anyOf: [generationOfWords, generationOfContent, regenerationOfTask, regenerationOfVideo],
};

/** In a form every value is text, and the first frame can be a file. */
const formFields = {
  ...pictureTexts,
  input_reference: { type: 'string', format: 'binary', description: 'The first frame, as a file or a URL.' },
  resolution,
  ratio,
  aspect_ratio: aspectRatio,
  size,
  n: { const: '1', description: clientSchemas.n.description },
  user: clientSchemas.user,
  webhook_url: documentedWebhookUrl,
  ...documentedBound,
};
const asJson: Schema = {
  type: 'string',
  pattern: '^\\s*\\[',
  description: 'The content array as JSON. Fields such as content[][type] are accepted too.',
};
const formVariant = (required: readonly string[], properties: Readonly<Record<string, Schema>>): Schema => ({
  type: 'object',
  required: ['model', ...required],
  properties: { ...formFields, ...properties },
});

export const createForm: Schema = {
  title: 'VideoCreateForm',
  anyOf: [
    formVariant(['prompt'], {
      model,
      prompt,
      seconds: duration,
      action: { enum: ['generation', 'generate'] },
      source_task_id: absent,
    }),
    formVariant(['content'], {
      model,
      content: asJson,
      aigc_watermark: { enum: ['true', 'false'], description: 'Only for a regeneration.' },
      seconds: duration,
      action: { enum: ['generation', 'generate', 'regeneration', 'regenerate'] },
      source_task_id: absent,
    }),
    {
      type: 'object',
      required: ['model', 'source_task_id'],
      properties: {
        model: ALPHA,
        source_task_id: { ...nonEmpty, maxLength: 64 },
        resolution: REGENERATED,
        action: regenerate,
        aigc_watermark: { enum: ['true', 'false'] },
        webhook_url: documentedWebhookUrl,
        ...documentedBound,
      },
    },
  ],
};
