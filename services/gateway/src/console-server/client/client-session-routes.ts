import type { Clock } from '@reelgate/platform/clock';
import type { Me } from '../../../console/api/session.ts';
import { readTokens } from '../../http/admission/admit.ts';
import { takeRate } from '../../http/admission/limit-rate.ts';
import type { Principal } from '../../clients/billing-client.ts';
import type { RateLimits } from '../../http/admission/limit-rate.ts';
import type { BodyBudget } from '../../http/bodies/body-budget.ts';
import { requirePrincipal } from '../../http/http-exchange.ts';
import type { Principals } from '../../operations/principals.ts';
import type { RateCounters } from '../../rate-counters/rate-counters.ts';
import type { RouteEntry } from '../../http/routes/route.ts';
import { consoleRoute } from '../console-route.ts';
import type { ClientSessions } from '../session/client-sessions.ts';
import { sessionRoutes } from '../session/session-routes.ts';

/** The parts that the sessions of clients need. */
export interface SessionRouteParts {
  readonly clock: Clock;
  readonly principals: Principals;
  readonly budget: BodyBudget;
  readonly counters: RateCounters;
  readonly limits: RateLimits;
}

/** Signs a token in and out, and says who is signed in. */
export function clientSessionRoutes(parts: SessionRouteParts, sessions: ClientSessions): RouteEntry[] {
  const { clock, principals, budget } = parts;
  const showMe = (principal: Principal): Me => ({
    accountId: principal.accountId,
    tokenId: principal.tokenId,
    models: principal.models,
    tokenName: principal.tokenName,
    webhooks: principal.webhooks,
    tokens: principal.tokens,
    now: clock.now(),
  });
  return sessionRoutes({
    secretMember: 'token',
    budget,
    sessions,
    signIn: async (exchange, token) => {
      const [key = ''] = readTokens({ authorization: `Bearer ${token}` });
      const principal = await principals.of(key, exchange.state);
      await takeRate(parts, principal, 'console');
      await sessions.begin(exchange, { key, tokenId: principal.tokenId });
      return showMe(principal);
    },
    readMe: (exchange) => showMe(requirePrincipal(exchange)),
    route: consoleRoute,
  });
}
