import { Problem } from '@reelgate/platform/problem';
import type { ClientBody } from '../dialects/dialect.ts';
import type { ModelPlace } from './endpoints.ts';

export interface ModelPlaces {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: () => Promise<ClientBody>;
}

const READ: Readonly<Record<ModelPlace, (places: ModelPlaces) => Promise<unknown>>> = {
  path: async ({ params }) => params['model'],
  query: async ({ query }) => query.get('model') ?? undefined,
  body: async ({ body }) => modelIn(await body()),
};

/** The model that a synchronous request asks for; refuses a request without one. */
export async function requestedModel(place: ModelPlace, places: ModelPlaces): Promise<string> {
  const model = await READ[place](places);
  if (typeof model === 'string' && model !== '') return model;
  throw new Problem({ kind: 'invalid', reason: 'missing_model', field: 'model', message: 'is required: the id of a model' });
}

function modelIn(body: ClientBody): unknown {
  if ('form' in body) return body.form.fields.find(([name]) => name === 'model')?.[1];
  if (typeof body.json !== 'object' || body.json === null || Array.isArray(body.json)) {
    throw new Problem({ kind: 'invalid', reason: 'invalid_request', message: 'the body must be a JSON object' });
  }
  return (body.json as Readonly<Record<string, unknown>>)['model'];
}
