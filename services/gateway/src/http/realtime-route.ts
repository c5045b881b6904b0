import { Problem } from '@reelgate/platform/problem';
import type { RouteEntry } from './route.ts';

/** No channel adapts it yet, so every model is unknown at it. */
export function realtimeRoute(): RouteEntry {
  return {
    methods: ['GET'], path: '/v1/realtime', token: { counts: 'reads' },
    handle: (exchange) => {
      const model = new URLSearchParams(exchange.querystring).get('model') ?? '';
      if (model === '') throw new Problem({ kind: 'invalid', reason: 'missing_model', field: 'model', message: 'is required: the id of a model' });
      throw new Problem({ kind: 'not_found', reason: 'model_not_found', field: 'model', message: `${JSON.stringify(model.slice(0, 64))} is not a model that this token can use here; GET /v1/models lists those that it can` });
    },
    doc: {
      tag: 'Relayed', operationId: 'relay_v1_realtime', summary: 'Realtime over a WebSocket', description: 'Passed through to a channel that adapts realtime.',
      parameters: [{ name: 'model', description: 'Id of the model.', schema: { type: 'string' } }], answers: {},
    },
  };
}
