import type { TryView } from '../../../console/api/try.ts';
import { requirePrincipal } from '../../http/exchange.ts';
import type { GatewayParts } from '../../http/gateway-parts.ts';
import type { RouteEntry } from '../../http/routes/route.ts';
import { listVisibleModels } from '../../operations/visible-models.ts';
import { consoleRoute } from '../console-route.ts';

/** `GET /try`: what the token can order, and within which bounds. */
export function tryRoute({ catalogue, limits }: GatewayParts): RouteEntry {
  return consoleRoute({
    method: 'GET',
    path: '/try',
    name: 'getTry',
    answer: (exchange): TryView => {
      const principal = requirePrincipal(exchange);
      const current = catalogue();
      return {
        models: listVisibleModels(principal, current).flatMap((id) => {
          const model = current.models.get(id);
          return model === undefined ? [] : [{ id, ...model }];
        }),
        bodyBytesMax: limits.bodyBytes,
        webhooks: principal.webhooks === 'write',
      };
    },
  });
}
