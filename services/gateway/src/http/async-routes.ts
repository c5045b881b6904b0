import { Problem } from '@reelgate/platform/problem';
import { relayEndpoints } from '../relay/endpoints.ts';
import type { Exchange } from './exchange.ts';
import { freezeCall } from './freeze-call.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { matchPath } from './route.ts';
import type { RouteEntry } from './route.ts';

const ANYTHING = { type: 'object' };

/** The generic asynchronous route in front of the synchronous ones. */
export function asyncRoutes(parts: GatewayParts): RouteEntry[] {
  return [
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

/** Nothing queues calls yet, so every model is unknown here; the request is read as far as that takes. */
async function relayLater(parts: GatewayParts, exchange: Exchange): Promise<void> {
  const path = exchange.path.slice('/async'.length);
  for (const endpoint of relayEndpoints) {
    const params = matchPath(endpoint.path, path);
    if (params === undefined) continue;
    const { model } = await freezeCall(parts, exchange, { endpoint, path, params });
    throw new Problem({ kind: 'not_found', reason: 'model_not_found', field: 'model', message: `${JSON.stringify(model.slice(0, 64))} is not a model that this token can use here` });
  }
  throw new Problem({ kind: 'not_found', reason: 'not_found', message: 'there is no synchronous route at the path behind /async' });
}

function readLater(exchange: Exchange): never {
  const id = new URLSearchParams(exchange.querystring).get('id') ?? '';
  if (id === '') throw new Problem({ kind: 'invalid', reason: 'invalid_request', field: 'id', message: 'is required: /get-async?id=…' });
  throw new Problem({ kind: 'not_found', reason: 'task_not_found', message: 'there is no such asynchronous call' });
}
