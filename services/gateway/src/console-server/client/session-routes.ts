import type { Clock } from '@reelgate/platform/clock';
import type { Me } from '../../../console/api/session.ts';
import { readTokens } from '../../http/admission/credentials.ts';
import { takeRate } from '../../http/admission/limit-rate.ts';
import { bodyValidator } from '../../dialects/wire/body-validator.ts';
import type { Principal } from '../../clients/billing-client.ts';
import type { RateLimits } from '../../domain/rate-limits.ts';
import type { BodyBudget } from '../../http/bodies/body-budget.ts';
import { requirePrincipal } from '../../http/http-exchange.ts';
import type { Principals } from '../../operations/principals.ts';
import type { RateCounters } from '../../rate-counters/rate-counters.ts';
import type { RouteEntry } from '../../http/routes/route.ts';
import { consoleDoc } from '../console-route.ts';
import { consoleRoute } from '../console-route.ts';
import { readJsonBody } from '../console-route.ts';
import type { ClientSessions } from '../session/client-sessions.ts';

const PATH = '/console/api/session';
const signIn = bodyValidator<{ readonly token: string }>({
  type: 'object',
  additionalProperties: false,
  required: ['token'],
  properties: { token: { type: 'string', maxLength: 256 } },
});

/** The parts that the sessions of clients need. */
export interface SessionRouteParts {
  readonly clock: Clock;
  readonly principals: Principals;
  readonly budget: BodyBudget;
  readonly counters: RateCounters;
  readonly limits: RateLimits;
}

/** Signs a token in and out, and says who is signed in. */
export function sessionRoutes(parts: SessionRouteParts, sessions: ClientSessions): RouteEntry[] {
  const { clock, principals } = parts;
  const meOf = (principal: Principal): Me => ({
    accountId: principal.accountId,
    tokenId: principal.tokenId,
    models: principal.models,
    tokenName: principal.tokenName,
    webhooks: principal.webhooks,
    tokens: principal.tokens,
    now: clock.now(),
  });
  return [
    {
      kind: 'console',
      methods: ['POST'],
      path: PATH,
      handle: async (exchange) => {
        const { token } = signIn(await readJsonBody(exchange, parts));
        const [key = ''] = readTokens({ authorization: `Bearer ${token.trim()}` });
        const principal = await principals.of(key, exchange.state);
        await takeRate(parts, principal, 'console');
        await sessions.begin(exchange, { key, tokenId: principal.tokenId });
        exchange.body = meOf(principal);
      },
      doc: consoleDoc('signIn', 'Sign in'),
    },
    {
      kind: 'console',
      methods: ['DELETE'],
      path: PATH,
      handle: async (exchange) => {
        await sessions.end(exchange);
        exchange.body = {};
      },
      doc: consoleDoc('signOut', 'Sign out'),
    },
    consoleRoute({
      method: 'DELETE',
      path: '/sessions',
      name: 'signOutEverywhere',
      answer: async (exchange) => {
        await sessions.endAll(exchange);
        return {};
      },
    }),
    consoleRoute({ method: 'GET', path: '/me', name: 'getMe', answer: (exchange) => meOf(requirePrincipal(exchange)) }),
  ];
}
