import { Problem } from '@reelgate/platform/problem';
import { visibleModels } from '../operations/visible-models.ts';
import type { Exchange } from './exchange.ts';
import { principalOf } from './exchange.ts';
import type { GatewayParts } from './gateway-parts.ts';
import type { RouteEntry } from './route.ts';

const OWNER = 'reelgate';
const MODEL = {
  title: 'Model', type: 'object', required: ['id', 'object', 'created', 'owned_by'],
  properties: { id: { type: 'string' }, object: { const: 'model' }, created: { type: 'integer' }, owned_by: { type: 'string' } },
};

export function modelRoutes({ catalogue }: Pick<GatewayParts, 'catalogue'>): RouteEntry[] {
  return [
    {
      methods: ['GET'], path: '/v1/models', token: { counts: 'reads' },
      handle: (exchange) => {
        exchange.body = { object: 'list', data: visibleModels(principalOf(exchange), catalogue()).map(encodeModel) };
      },
      doc: {
        tag: 'Models', operationId: 'listModels', summary: 'List the models that the token sees',
        answers: { 'application/json': { title: 'ModelPage', type: 'object', properties: { object: { const: 'list' }, data: { type: 'array', items: MODEL } } } },
      },
    },
    {
      methods: ['GET'], path: '/v1/models/{model}', token: { counts: 'reads' },
      handle: (exchange) => {
        exchange.body = encodeModel(visibleModel(exchange, catalogue));
      },
      doc: { tag: 'Models', operationId: 'getModel', summary: 'Read a model that the token sees', answers: { 'application/json': MODEL } },
    },
  ];
}

function visibleModel(exchange: Exchange, catalogue: GatewayParts['catalogue']): string {
  const id = exchange.params['model'] ?? '';
  if (visibleModels(principalOf(exchange), catalogue()).includes(id)) return id;
  throw new Problem({ kind: 'not_found', reason: 'model_not_found', field: 'model', message: `${JSON.stringify(id.slice(0, 64))} is not a model that this token can use here; GET /v1/models lists those that it can` });
}

function encodeModel(id: string): object {
  return { id, object: 'model', created: 0, owned_by: OWNER };
}
