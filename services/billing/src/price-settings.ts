import { custom, decimal, section, sectionSchema, whole } from '@reelgate/platform/config/settings';
import type { Setting } from '@reelgate/platform/config/settings';
import type { TokenKey } from './domain/token-rates.ts';

const DECIMAL = 'a decimal in quotes such as "0.08", with at most nine places';

/** The prices of a million tokens. Those of the sides are required; every other has one that replaces it. */
const tokenPriceKeys = {
  input: decimal('the price of a million tokens of input', { required: true }),
  cached_input: decimal('the price of a million tokens of input that the upstream read from its cache', {
    absent: '`input`',
  }),
  cached_audio_input: decimal('the price of a million tokens of sound that the upstream read from its cache', {
    absent: '`cached_input`, else `audio_input`, else `input`',
  }),
  cached_image_input: decimal('the price of a million tokens of pictures that the upstream read from its cache', {
    absent: '`cached_input`, else `image_input`, else `input`',
  }),
  cache_write: decimal(
    'the price of a million tokens of input that the upstream wrote to its cache, for five minutes or an unknown time',
    { absent: '`input`' },
  ),
  cache_write_1h: decimal('the price of a million tokens of input that the upstream wrote to its cache for an hour', {
    absent: '`cache_write`, else `input`',
  }),
  audio_input: decimal('the price of a million tokens of input that are sound', { absent: '`input`' }),
  image_input: decimal('the price of a million tokens of input that are pictures', { absent: '`input`' }),
  output: decimal('the price of a million tokens of output', { required: true }),
  reasoning: decimal('the price of a million tokens of output that no client sees: reasoning, thoughts', {
    absent: '`output`',
  }),
  audio_output: decimal('the price of a million tokens of output that are sound', { absent: '`output`' }),
  image_output: decimal('the price of a million tokens of output that are pictures', { absent: '`output`' }),
} satisfies Record<TokenKey, Setting>;

const NOT_CHARGED = { absent: 'not charged' } as const;

/** The terms of one price: of a sale, or of what a channel pays its upstream. */
const termsKeys = {
  per_second: custom(
    'the price of a second of output, or one for each resolution',
    {
      type: ['string', 'object'],
      format: 'decimal',
      minProperties: 1,
      additionalProperties: { type: 'string', format: 'decimal', description: DECIMAL },
    },
    {
      ...NOT_CHARGED,
      expects: 'a decimal in quotes such as "0.05", or one for each resolution such as { 768P: "0.08" }',
    },
    (prices: string | Readonly<Record<string, string>>) => prices,
  ),
  per_input_second: decimal('the price of a second of input', { absent: '`per_second`' }),
  images: section(
    {
      free: whole('how many images are free', { default: 0, min: 0 }),
      each: decimal('the price of each further image', { required: true, ...NOT_CHARGED }),
    },
    { expects: 'how many images are free and what each further one costs, such as { free: 5, each: "0.04" }' },
  ),
  per_request: decimal('the price of a request', { ...NOT_CHARGED }),
  per_million_tokens: section(tokenPriceKeys, {
    expects:
      'the prices of a million tokens, such as { input: "0.90", output: "3.60" }; a part without a price has that of the whole',
  }),
  per_million_characters: decimal('the price of a million characters', { ...NOT_CHARGED }),
  per_search: decimal('the price of a search of the web, or of a unit of a rerank', { ...NOT_CHARGED }),
  hold: decimal('what is held while the tokens or the seconds are unknown', { absent: 'such an order is refused' }),
};

const ANY_PRICE = { minProperties: 1, description: 'the terms of a price, such as { per_second: "0.05" }' };

export const termsSchema = { ...sectionSchema(termsKeys), ...ANY_PRICE };

/** A price of sale can name discounts. */
export const priceSchema = {
  ...sectionSchema({
    ...termsKeys,
    class_discounts: section(
      {
        batch: decimal('the part of every price that a task of the class `batch` is spared', {
          absent: 'no discount',
          expects: 'a decimal in quotes from "0" to "1", such as "0.5"',
        }),
      },
      {
        expects: 'the part of every price that work of a class is spared, such as { batch: "0.5" }',
        schema: { minProperties: 1 },
      },
    ),
  }),
  ...ANY_PRICE,
};
