import type { Schema } from '../dialect.ts';

const SECONDS_MAX = 2 ** 31 - 1;

/** The flat fields of length and frame, as two dialects take them; which values a model has is judged with the order. */
export const duration: Schema = {
  description: 'Length in whole seconds, within the range of the model.',
  examples: ['5'],
  anyOf: [
    { type: 'string', pattern: '^0*[1-9][0-9]{0,8}$' },
    { type: 'integer', minimum: 1, maximum: SECONDS_MAX },
  ],
};
export const size: Schema = {
  type: 'string',
  pattern: '^[1-9][0-9]{0,4}x[1-9][0-9]{0,4}$',
  description: 'Width x height; the nearest ratio of the model is taken, and 2K from 2048 pixels on.',
  examples: ['1280x720'],
};
export const ratio: Schema = {
  type: 'string',
  minLength: 1,
  description: 'One that the model has, such as 16:9; it goes before size.',
  examples: ['16:9'],
};
export const resolution: Schema = {
  type: 'string',
  minLength: 1,
  description: 'One that the model has, such as 768P; it goes before size.',
  examples: ['768P'],
};
