import { Problem } from '@reelgate/platform/problem';
import type { RouteEntry } from './route.ts';

/** Refuses a plain HTTP request to `/v1/realtime`. An upgrade to a WebSocket never reaches Koa. */
export function realtimeRoute(): RouteEntry {
  return {
    kind: 'relay',
    methods: ['GET'],
    path: '/v1/realtime',
    token: { counts: 'calls' },
    handle: (exchange) => {
      exchange.set('upgrade', 'websocket');
      throw new Problem({
        kind: 'invalid',
        reason: 'upgrade_required',
        message: 'this route requires a WebSocket; send Connection: Upgrade and Upgrade: websocket',
      });
    },
    doc: {
      tag: 'Relayed',
      operationId: 'relay_v1_realtime',
      summary: 'Open a realtime session over a WebSocket',
      description:
        'The gateway passes messages in both directions between the client and a channel that serves `realtime`.',
      parameters: [{ name: 'model', description: 'The id of the model.', schema: { type: 'string' } }],
      answers: {},
      also: { 101: { description: 'The connection becomes a WebSocket.' } },
      refuses: [400, 404, 426, 502, 504],
    },
  };
}
