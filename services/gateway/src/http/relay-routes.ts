import { Problem } from '@reelgate/platform/problem';
import { relayEndpoints } from '../relay/endpoints.ts';
import type { RelayEndpoint } from '../relay/endpoints.ts';
import { requestedModel } from '../relay/requested-model.ts';
import type { Exchange } from './exchange.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { readRequestBody } from './request-body.ts';
import { matchPath } from './route.ts';
import type { Count, RouteDoc, RouteEntry } from './route.ts';

const ANYTHING = { type: 'object' };
const COUNTS: Readonly<Record<RelayEndpoint['method'], Count>> = { POST: 'creates', GET: 'reads' };

/** The synchronous capabilities, at their own paths and behind the generic asynchronous one. */
export function relayRoutes(parts: GatewayParts): RouteEntry[] {
  return [
    ...relayEndpoints.map((endpoint): RouteEntry => ({
      methods: [endpoint.method], path: endpoint.path, token: { counts: COUNTS[endpoint.method] },
      handle: (exchange) => relay(parts, endpoint, exchange, exchange.params), doc: docOf(endpoint),
    })),
    {
      methods: ['POST'], path: '/async/{+path}', token: { counts: 'creates' }, handle: (exchange) => relayLater(parts, exchange),
      doc: { tag: 'Generic async', operationId: 'createAsync', summary: 'Queue a call of a synchronous route', json: ANYTHING, answers: { 'application/json': ANYTHING } },
    },
    {
      methods: ['GET'], path: '/get-async', token: { counts: 'reads' }, handle: readLater,
      doc: {
        tag: 'Generic async', operationId: 'getAsync', summary: 'Read a queued call', parameters: [{ name: 'id', description: 'Id of the call.', schema: { type: 'string' } }],
        answers: { 'application/json': ANYTHING },
      },
    },
  ];
}

/** No channel adapts these endpoints yet, so every model is unknown at them; the request is read as far as that takes. */
async function relay(parts: GatewayParts, { model: place, takesForms }: RelayEndpoint, exchange: Exchange, params: Exchange['params']): Promise<void> {
  const model = await requestedModel(place, {
    params, query: new URLSearchParams(exchange.querystring), body: () => readRequestBody(exchange, parts, takesForms),
  });
  throw new Problem({ kind: 'not_found', reason: 'model_not_found', field: 'model', message: `${JSON.stringify(model.slice(0, 64))} is not a model that this token can use here; GET /v1/models lists those that it can` });
}

async function relayLater(parts: GatewayParts, exchange: Exchange): Promise<void> {
  const path = exchange.path.slice('/async'.length);
  for (const endpoint of relayEndpoints.filter(({ method }) => method === 'POST')) {
    const params = matchPath(endpoint.path, path);
    if (params !== undefined) return relay(parts, endpoint, exchange, params);
  }
  throw new Problem({ kind: 'not_found', reason: 'not_found', message: 'there is no synchronous route at the path behind /async' });
}

function readLater(exchange: Exchange): never {
  const id = new URLSearchParams(exchange.querystring).get('id') ?? '';
  if (id === '') throw new Problem({ kind: 'invalid', reason: 'invalid_request', field: 'id', message: 'is required: /get-async?id=…' });
  throw new Problem({ kind: 'not_found', reason: 'task_not_found', message: 'there is no such asynchronous call' });
}

function docOf({ name, method, path, model, summary }: RelayEndpoint): RouteDoc {
  const operationId = `relay_${path.replace(/\W+/g, '_').replace(/^_|_$/g, '')}`;
  return {
    tag: 'Relayed', operationId, summary, description: `Passed through to a channel that adapts ${name}.`,
    ...(method === 'POST' ? { json: ANYTHING } : {}),
    ...(model === 'query' ? { parameters: [{ name: 'model', description: 'Id of the model.', schema: { type: 'string' } }] } : {}),
    answers: { 'application/json': ANYTHING },
  };
}
