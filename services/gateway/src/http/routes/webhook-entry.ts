import type { WebhookCaller } from '../../clients/webhooks-client.ts';
import type { Schema } from '../../dialects/dialect.ts';
import type { Exchange } from '../exchange.ts';
import type { Method, RouteDoc, RouteEntry } from './route.ts';
import { requireWebhookCaller } from './webhook-right.ts';

/** A route about webhooks. A GET needs the right to read them, any other method the right to change them. */
export interface WebhookRoute {
  readonly method: Method;
  readonly path: string;
  readonly doc: Omit<RouteDoc, 'tag' | 'answers'>;
  readonly schema: Schema;
  readonly answer: (exchange: Exchange, caller: WebhookCaller) => Promise<object> | object;
}

export function webhookEntry({ method, path, doc, schema, answer }: WebhookRoute): RouteEntry {
  const isRead = method === 'GET';
  return {
    kind: isRead ? 'read' : 'change',
    methods: [method],
    path,
    token: { counts: isRead ? 'reads' : 'calls' },
    handle: async (exchange) => {
      exchange.body = await answer(exchange, requireWebhookCaller(exchange, isRead ? 'read' : 'write'));
    },
    doc: { ...doc, tag: 'Webhooks', answers: { 'application/json': schema } },
  };
}
