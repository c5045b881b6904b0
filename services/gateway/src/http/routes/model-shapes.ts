import type { Schema } from '../../dialects/dialect.ts';
import type { ClientFamily } from '../client-family.ts';

export interface ListedModel {
  readonly id: string;
  /** True if a channel serves it at `generate_content`. */
  readonly generates: boolean;
}

/** The shape in which one family of clients reads models. */
export interface ModelShape {
  readonly schema: Schema;
  readonly pageSchema: Schema;
  one(model: ListedModel): object;
  page(models: readonly ListedModel[]): object;
}

const OWNER = 'reelgate';
/** These clients require a creation time, which the gateway does not know. */
const UNKNOWN_TIME = '1970-01-01T00:00:00Z';
const METHODS = ['generateContent', 'streamGenerateContent'];

const text = { type: 'string' };
const object = (title: string, properties: Schema): Schema => ({
  title,
  type: 'object',
  required: Object.keys(properties),
  additionalProperties: false,
  properties,
});

const nothing = { type: 'null' };
const textOrNull = { type: ['string', 'null'] };

const openaiModel = object('Model', {
  id: text,
  object: { const: 'model' },
  created: { type: 'integer' },
  owned_by: text,
});
const anthropicModel = object('MessagesModel', {
  type: { const: 'model' },
  id: text,
  display_name: text,
  created_at: { type: 'string', format: 'date-time' },
  lifecycle: { const: 'active' },
  capabilities: nothing,
  deprecated_at: nothing,
  line: nothing,
  max_input_tokens: nothing,
  max_tokens: nothing,
  retires_at: nothing,
});
const googleModel = object('GenerateContentModel', {
  name: text,
  displayName: text,
  supportedGenerationMethods: { type: 'array', items: { enum: METHODS } },
});

const openaiOne = ({ id }: ListedModel): object => ({ id, object: 'model', created: 0, owned_by: OWNER });
/** The gateway does not know the values that are null. */
const anthropicOne = ({ id }: ListedModel): object => ({
  type: 'model',
  id,
  display_name: id,
  created_at: UNKNOWN_TIME,
  lifecycle: 'active',
  capabilities: null,
  deprecated_at: null,
  line: null,
  max_input_tokens: null,
  max_tokens: null,
  retires_at: null,
});
const googleOne = ({ id, generates }: ListedModel): object => ({
  name: `models/${id}`,
  displayName: id,
  supportedGenerationMethods: generates ? METHODS : [],
});

/** Each shape lists all models on one page. */
export const MODEL_SHAPES: Readonly<Record<ClientFamily, ModelShape>> = {
  openai: {
    schema: openaiModel,
    one: openaiOne,
    pageSchema: object('ModelPage', { object: { const: 'list' }, data: { type: 'array', items: openaiModel } }),
    page: (models) => ({ object: 'list', data: models.map(openaiOne) }),
  },
  anthropic: {
    schema: anthropicModel,
    one: anthropicOne,
    pageSchema: object('MessagesModelPage', {
      data: { type: 'array', items: anthropicModel },
      has_more: { const: false },
      first_id: textOrNull,
      last_id: textOrNull,
    }),
    page: (models) => ({
      data: models.map(anthropicOne),
      has_more: false,
      first_id: models[0]?.id ?? null,
      last_id: models.at(-1)?.id ?? null,
    }),
  },
  google: {
    schema: googleModel,
    one: googleOne,
    pageSchema: object('GenerateContentModelPage', { models: { type: 'array', items: googleModel } }),
    page: (models) => ({ models: models.map(googleOne) }),
  },
};
