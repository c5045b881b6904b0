import type { Schema } from '../dialect.ts';
import { contentSchema } from '../wire/content-items.ts';
import type { WireItem } from '../wire/content-items.ts';
import type { FlatFields } from '../wire/flat-fields.ts';
import { bodyValidator } from '../wire/body-validator.ts';

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
}

const IMAGES_MAX = 16;
const SIDE = { type: 'integer', minimum: 1, maximum: 99_999 };
const image: Schema = { type: 'string', minLength: 1, description: 'Address, data URL or base64 of an image.' };

const fields = {
  model: { type: 'string', description: 'Id of the model, such as Alpha-H3.' },
  prompt: { type: 'string', description: 'The words for the video.' },
  image: { ...image, description: 'The first frame: its address, a data URL, or its bytes as base64.' },
  images: {
    type: 'array',
    maxItems: IMAGES_MAX,
    items: image,
    description: 'One is the first frame, several are references.',
  },
  duration: { type: ['integer', 'string'], description: 'Length in whole seconds.', examples: [5] },
  seconds: { type: ['integer', 'string'], description: 'The same as duration.' },
  width: { ...SIDE, description: 'With height, the same as size.' },
  height: SIDE,
  size: {
    type: 'string',
    description: 'Width x height; the nearest ratio of the model is taken, and 2K from 2048 pixels on.',
    examples: ['1280x720'],
  },
  ratio: { type: 'string', description: 'Such as 16:9; it goes before size.' },
  resolution: { type: 'string', description: 'Such as 768P; it goes before size.' },
  content: contentSchema,
  n: { const: 1, description: 'One video for each task.' },
  source_task_id: { type: 'string', description: 'Refused unless it is empty: this path only generates.' },
  action: { enum: ['generation', 'generate'], description: 'This path only generates.' },
} as const satisfies Readonly<Record<keyof GenerationsBody, Schema>>;

/** Other fields, such as seed, fps or metadata, are passed on to a channel that knows them. */
const generationsSchema: Schema = { type: 'object', required: ['model'], properties: fields };

export const KNOWN_FIELDS: readonly string[] = Object.keys(fields);

export const readGenerations = bodyValidator<GenerationsBody>(generationsSchema);
