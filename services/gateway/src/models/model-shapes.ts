import { newAnswer, objectSchema } from '../domain/schema.ts';
import type { Answer, Properties, TypeOf } from '../domain/schema.ts';
import type { ClientFamily } from '../http/client-family.ts';

export interface ListedModel {
  readonly id: string;
  /** True if a channel serves it at `generate_content`. */
  readonly generates: boolean;
  /** Its output, in OpenRouter's words. */
  readonly makes: readonly string[];
}

/** The shape in which one family of clients reads models. */
export interface ModelShape {
  readonly one: Answer<[model: ListedModel]>;
  /** Lists all models on one page. */
  readonly page: Answer<[models: readonly ListedModel[]]>;
}

const OWNER = 'reelgate';
/** These clients require a creation time, which the gateway does not know. */
const UNKNOWN_TIME = '1970-01-01T00:00:00Z';
/** OpenRouter's price of a model without a price in advance. */
const UNKNOWN_PRICE = '-1';
const METHODS = ['generateContent', 'streamGenerateContent'] as const;

const text = { type: 'string' } as const;
const object = <const P extends Properties>(title: string, properties: P) =>
  ({ title, ...objectSchema(properties) }) as const;

const nothing = { type: 'null' } as const;
const textOrNull = { type: ['string', 'null'] } as const;

const OPENAI_MEMBERS = { id: text, object: { const: 'model' }, created: { type: 'integer' }, owned_by: text } as const;
const openaiModel = object('Model', OPENAI_MEMBERS);
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

const texts = { type: 'array', items: text } as const;
const unknownPrice = { const: UNKNOWN_PRICE, description: 'Not known in advance.' } as const;
const openrouterModel = object('OpenRouterModel', {
  ...OPENAI_MEMBERS,
  name: text,
  canonical_slug: text,
  architecture: object('OpenRouterModelArchitecture', {
    modality: nothing,
    input_modalities: texts,
    output_modalities: texts,
  }),
  pricing: object('OpenRouterModelPricing', { prompt: unknownPrice, completion: unknownPrice }),
  context_length: nothing,
  default_parameters: nothing,
  per_request_limits: nothing,
  supported_parameters: texts,
  supported_voices: nothing,
  top_provider: object('OpenRouterTopProvider', { is_moderated: { const: false } }),
  links: object('OpenRouterModelLinks', { details: text }),
});

const openaiOne = ({ id }: ListedModel): TypeOf<typeof openaiModel> => ({
  id,
  object: 'model',
  created: 0,
  owned_by: OWNER,
});
/** The gateway does not know the values that are null. */
const anthropicOne = ({ id }: ListedModel): TypeOf<typeof anthropicModel> => ({
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
const googleOne = ({ id, generates }: ListedModel): TypeOf<typeof googleModel> => ({
  name: `models/${id}`,
  displayName: id,
  supportedGenerationMethods: generates ? METHODS : [],
});

/** The members that OpenAI's clients read, and those that OpenRouter's clients require. */
const openrouterOne = (model: ListedModel): TypeOf<typeof openrouterModel> => ({
  ...openaiOne(model),
  name: model.id,
  canonical_slug: model.id,
  architecture: { modality: null, input_modalities: [], output_modalities: model.makes },
  pricing: { prompt: UNKNOWN_PRICE, completion: UNKNOWN_PRICE },
  context_length: null,
  default_parameters: null,
  per_request_limits: null,
  supported_parameters: [],
  supported_voices: null,
  top_provider: { is_moderated: false },
  links: { details: `/v1/models/${encodeURIComponent(model.id)}` },
});

const openaiPage = object('ModelPage', { object: { const: 'list' }, data: { type: 'array', items: openaiModel } });
const anthropicPage = object('MessagesModelPage', {
  data: { type: 'array', items: anthropicModel },
  has_more: { const: false },
  first_id: textOrNull,
  last_id: textOrNull,
});
const googlePage = object('GenerateContentModelPage', { models: { type: 'array', items: googleModel } });
const openrouterPage = object('OpenRouterModelPage', {
  object: { const: 'list' },
  data: { type: 'array', items: openrouterModel },
  total_count: { type: 'integer' },
  links: object('OpenRouterPageLinks', { next: nothing }),
});

export const MODEL_SHAPES: Readonly<Record<ClientFamily | 'openrouter', ModelShape>> = {
  openai: {
    one: newAnswer(openaiModel, openaiOne),
    page: newAnswer(openaiPage, (models) => ({ object: 'list', data: models.map(openaiOne) })),
  },
  anthropic: {
    one: newAnswer(anthropicModel, anthropicOne),
    page: newAnswer(anthropicPage, (models) => ({
      data: models.map(anthropicOne),
      has_more: false,
      first_id: models[0]?.id ?? null,
      last_id: models.at(-1)?.id ?? null,
    })),
  },
  google: {
    one: newAnswer(googleModel, googleOne),
    page: newAnswer(googlePage, (models) => ({ models: models.map(googleOne) })),
  },
  openrouter: {
    one: newAnswer(openrouterModel, openrouterOne),
    page: newAnswer(openrouterPage, (models) => ({
      object: 'list',
      data: models.map(openrouterOne),
      total_count: models.length,
      links: { next: null },
    })),
  },
};
