import { drainSchema } from '@reelgate/platform/lifecycle/drain-schema';
import { storeSchema } from '@reelgate/platform/sql/store-settings';
import { listenerTlsSchema } from '@reelgate/platform/tls/tls-schema';
import { TOKEN_RATES } from './domain/token-rates.ts';

const decimal = {
  type: 'string',
  format: 'decimal',
  description: 'a decimal in quotes such as "0.08", with at most nine places',
};

/** The terms of one price, of a sale or of a channel's upstream. */
export const termsSchema = {
  type: 'object',
  description: 'the terms of a price, such as { per_second: "0.05" }',
  additionalProperties: false,
  minProperties: 1,
  properties: {
    per_second: {
      type: ['string', 'object'],
      description: 'a decimal in quotes such as "0.05", or one for each resolution such as { 768P: "0.08" }',
      format: 'decimal',
      minProperties: 1,
      additionalProperties: decimal,
    },
    per_input_second: decimal,
    images: {
      type: 'object',
      description: 'how many images are free and what each further one costs, such as { free: 5, each: "0.04" }',
      additionalProperties: false,
      required: ['each'],
      properties: { free: { type: 'integer', minimum: 0, maximum: 2 ** 31 - 1, default: 0 }, each: decimal },
    },
    per_request: decimal,
    per_million_tokens: {
      type: 'object',
      description:
        'the prices of a million tokens, such as { input: "0.90", output: "3.60" }; a part without a price has that of the whole',
      additionalProperties: false,
      required: ['input', 'output'],
      properties: Object.fromEntries(Object.values(TOKEN_RATES).map(({ keys: [key] }) => [key, decimal])),
    },
    per_million_characters: decimal,
    per_search: decimal,
    hold: decimal,
  },
};

/** A price of sale can name discounts. */
const priceSchema = {
  ...termsSchema,
  properties: {
    ...termsSchema.properties,
    class_discounts: {
      type: 'object',
      description: 'the part of every price that work of a class is spared, such as { batch: "0.5" }',
      additionalProperties: false,
      minProperties: 1,
      properties: { batch: { ...decimal, description: 'a decimal in quotes from "0" to "1", such as "0.5"' } },
    },
  },
};

const own = { type: 'integer', minimum: 1, maximum: 2 ** 31 - 1, description: 'a whole number from 1 to 2147483647' };

const token = {
  type: 'object',
  description: 'a token such as { models: ["*"] }',
  additionalProperties: false,
  required: ['models'],
  properties: {
    key: {
      type: 'string',
      pattern: '^[!-~]{8,256}$',
      description: '8 to 256 visible ASCII characters; if empty, the first start makes a key',
    },
    models: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description: 'a list of model ids; "*" is every model',
    },
    name: { type: 'string', maxLength: 256 },
    limit: decimal,
    confirm_above: {
      ...decimal,
      description: 'the price above which an order of an agent needs a person, a decimal in quotes such as "1.00"',
    },
    limits: {
      type: 'object',
      description: 'limits of its own, such as { creates_per_minute: 600, in_flight: 100 }',
      additionalProperties: false,
      properties: { creates_per_minute: own, reads_per_minute: own, calls_per_minute: own, in_flight: own },
    },
    webhooks: {
      enum: ['write', 'read', 'none'],
      description: 'what the token may do with webhooks: write, read or none; if empty, write',
    },
    tokens: {
      enum: ['write', 'read', 'none'],
      description: 'what the token may do with the tokens of its account: write, read or none; if empty, none',
    },
    queue: {
      type: 'object',
      description: 'how its tasks wait for a channel, such as { wait: own_limit, class: batch }',
      additionalProperties: false,
      properties: {
        wait: {
          enum: ['none', 'channels', 'own_limit'],
          description: 'for what its creates may wait: none, channels or own_limit; if empty, channels',
        },
        class: {
          enum: ['interactive', 'standard', 'batch'],
          description: 'the best class of its tasks: interactive, standard or batch; if empty, standard',
        },
      },
    },
    expires: {
      type: 'string',
      pattern: '^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$',
      description: 'a date such as 2027-01-31, or a time such as 2027-01-31T12:00:00Z',
    },
  },
};

const account = {
  type: 'object',
  description: 'an account such as { id: demo, credit: "100.00", tokens: [{ models: ["*"] }] }',
  additionalProperties: false,
  required: ['id'],
  properties: {
    id: {
      type: 'string',
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
      description: '1 to 64 letters, digits, dots, hyphens or underscores, a letter or digit first',
    },
    currency: { type: 'string', pattern: '^[A-Z]{3}$', default: 'USD', description: 'an ISO 4217 code such as USD' },
    credit: { ...decimal, default: '0' },
    tokens: { type: 'array', items: token, default: [], description: 'a list of tokens' },
    upstream_accounts: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      default: [],
      description: 'a list of upstream accounts whose files the account can refer to',
    },
  },
};

/** The configuration keys that billing owns. */
export const billingSchema = {
  billing: {
    type: 'object',
    description: 'the settings of the billing service',
    additionalProperties: false,
    default: {},
    properties: {
      listen: { type: 'string', format: 'host-port', description: 'the address of its gRPC port' },
      http: { type: 'string', format: 'host-port', description: 'the address of its HTTP port' },
      tls: listenerTlsSchema,
      drain: drainSchema('15s'),
      ...storeSchema,
      overrun_factor: {
        type: 'integer',
        minimum: 1,
        maximum: 1_000_000,
        default: 10,
        description: 'how many times its hold a task can be charged without confirmation by an operator',
      },
      send_ahead_max: {
        ...decimal,
        default: '1',
        description: 'the largest hold of a relayed call that may be sent before the disk has the hold, such as "1.00"',
      },
    },
  },
  prices: {
    type: 'object',
    description: 'prices by key, such as Alpha-H3: { per_second: "0.08" }',
    default: {},
    additionalProperties: priceSchema,
  },
  accounts: { type: 'array', description: 'a list of accounts', default: [], items: account },
};
