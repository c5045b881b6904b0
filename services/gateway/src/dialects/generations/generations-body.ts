import type { Schema } from '../dialect.ts';
import { contentSchema } from '../wire/content-items.ts';
import type { WireItem } from '../wire/content-items.ts';
import { sizeSchema } from '../wire/flat-fields.ts';
import type { FlatFields } from '../wire/flat-fields.ts';
import { bodyValidator } from '../wire/body-validator.ts';
import { webhookUrlSchema } from '../wire/webhook-url-schema.ts';

export interface GenerationsBody extends FlatFields {
  readonly model: string;
  readonly prompt?: string;
  readonly image?: string;
  readonly images?: readonly string[];
  readonly width?: number;
  readonly height?: number;
  readonly content?: readonly WireItem[];
  readonly n?: 1;
  readonly source_task_id?: string;
  readonly action?: string;
  readonly webhook_url?: string;
}

const IMAGES_MAX = 16;
const SIDE = { type: 'integer', minimum: 1, maximum: 99_999 };
const image: Schema = { type: 'string', minLength: 1, description: 'An image: a URL, a data URL or base64.' };

const fields = {
  model: { type: 'string', description: 'The id of the model, such as Alpha-H3.' },
  prompt: { type: 'string', description: 'The text that describes the video.' },
  image: { ...image, description: 'The first frame: a URL, a data URL or base64.' },
  images: {
    type: 'array',
    maxItems: IMAGES_MAX,
    items: image,
    description: 'One image is the first frame; several are references.',
  },
  duration: { type: ['integer', 'string'], description: 'The length in whole seconds.', examples: [5] },
  seconds: { type: ['integer', 'string'], description: 'An alias of duration.' },
  width: { ...SIDE, description: 'With height, an alternative to size.' },
  height: SIDE,
  size: sizeSchema,
  ratio: { type: 'string', description: 'Such as 16:9. It overrides size.' },
  resolution: { type: 'string', description: 'Such as 768P. It overrides size.' },
  content: contentSchema,
  n: { const: 1, description: 'A task makes one video.' },
  source_task_id: { type: 'string', description: 'Must be empty: this path only generates.' },
  action: { enum: ['generation', 'generate'], description: 'This path only generates.' },
  webhook_url: webhookUrlSchema,
} as const satisfies Readonly<Record<keyof GenerationsBody, Schema>>;

/** Other fields, such as seed, fps or metadata, are passed to channels that support them. */
const generationsSchema: Schema = { type: 'object', required: ['model'], properties: fields };

export const KNOWN_FIELDS: readonly string[] = Object.keys(fields);

export const readGenerations = bodyValidator<GenerationsBody>(generationsSchema);
