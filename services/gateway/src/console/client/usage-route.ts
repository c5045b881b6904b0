import type { GatewayParts } from '../../http/gateway-parts.ts';
import { requirePrincipal } from '../../http/exchange.ts';
import type { RouteEntry } from '../../http/routes/route.ts';
import { consoleRoute } from '../console-route.ts';
import { readUsagePeriod, usageQuestion, usageView } from '../views/usage.ts';

/** `GET /usage`: what the account was charged, by day and by model or token. */
export function usageRoute({ clock, usage }: GatewayParts): RouteEntry {
  return consoleRoute({
    method: 'GET',
    path: '/usage',
    name: 'getUsage',
    answer: async (exchange) => {
      const period = readUsagePeriod(new URLSearchParams(exchange.querystring), clock.now());
      const question = usageQuestion(requirePrincipal(exchange).accountId, period);
      return usageView(period, await usage(question, exchange.state.requestId));
    },
  });
}
