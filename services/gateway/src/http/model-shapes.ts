import type { Schema } from '../dialects/dialect.ts';

/** How one family of clients reads models. */
export interface ModelShape {
  readonly schema: Schema;
  readonly pageSchema: Schema;
  one(id: string): object;
  page(ids: readonly string[]): object;
}

const OWNER = 'reelgate';
/** When a model was made is nobody's business here, and these clients want a time. */
const LONG_AGO = '1970-01-01T00:00:00Z';
const METHODS = ['generateContent', 'streamGenerateContent'];

const text = { type: 'string' };
const object = (title: string, properties: Schema): Schema => ({ title, type: 'object', required: Object.keys(properties), properties });

const openaiModel = object('Model', { id: text, object: { const: 'model' }, created: { type: 'integer' }, owned_by: text });
const anthropicModel = object('MessagesModel', { type: { const: 'model' }, id: text, display_name: text, created_at: text });
const googleModel = object('GenerateContentModel', { name: text, displayName: text, supportedGenerationMethods: { type: 'array', items: text } });

const openaiOne = (id: string): object => ({ id, object: 'model', created: 0, owned_by: OWNER });
const anthropicOne = (id: string): object => ({ type: 'model', id, display_name: id, created_at: LONG_AGO });
const googleOne = (id: string): object => ({ name: `models/${id}`, displayName: id, supportedGenerationMethods: METHODS });

/** All models are one page. */
export const MODEL_SHAPES: Readonly<Record<'openai' | 'anthropic' | 'google', ModelShape>> = {
  openai: {
    schema: openaiModel, one: openaiOne,
    pageSchema: object('ModelPage', { object: { const: 'list' }, data: { type: 'array', items: openaiModel } }),
    page: (ids) => ({ object: 'list', data: ids.map(openaiOne) }),
  },
  anthropic: {
    schema: anthropicModel, one: anthropicOne,
    pageSchema: object('MessagesModelPage', { data: { type: 'array', items: anthropicModel }, has_more: { type: 'boolean' }, first_id: text, last_id: text }),
    page: (ids) => ({ data: ids.map(anthropicOne), has_more: false, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null }),
  },
  google: {
    schema: googleModel, one: googleOne,
    pageSchema: object('GenerateContentModelPage', { models: { type: 'array', items: googleModel } }),
    page: (ids) => ({ models: ids.map(googleOne) }),
  },
};
