import type { Schema } from '../../domain/schema.ts';
import { sizeSchema } from './flat-fields.ts';

const SECONDS_MAX = 2 ** 31 - 1;

/** The schemas of the flat fields for length and frame. The tasks service checks the values against the model. */
export const duration: Schema = {
  title: 'Duration',
  description: 'The length in whole seconds, within the range of the model.',
  examples: ['5'],
  anyOf: [
    { type: 'string', pattern: '^0*[1-9][0-9]{0,8}$' },
    { type: 'integer', minimum: 1, maximum: SECONDS_MAX },
  ],
};
export const size: Schema = {
  title: 'Size',
  type: 'string',
  pattern: '^[1-9][0-9]{0,4}x[1-9][0-9]{0,4}$',
  description: sizeSchema.description,
  examples: sizeSchema.examples,
};
export const ratio: Schema = {
  title: 'Ratio',
  type: 'string',
  minLength: 1,
  description: 'A ratio of the model, such as 16:9. It overrides size.',
  examples: ['16:9'],
};
export const aspectRatio: Schema = { ...ratio, title: 'AspectRatio', description: 'An alias of ratio.' };
export const resolution: Schema = {
  title: 'Resolution',
  type: 'string',
  minLength: 1,
  description: 'A resolution of the model, such as 768P. It overrides size.',
  examples: ['768P'],
};
