import { bodyValidator } from '../../dialects/wire/body-validator.ts';
import type { BodyBudget } from '../../http/bodies/body-budget.ts';
import type { Exchange } from '../../http/http-exchange.ts';
import type { RouteEntry } from '../../http/routes/route.ts';
import { consoleDoc, readJsonBody } from '../console-route.ts';
import type { ConsoleRoute } from '../console-route.ts';

const PATH = '/console/api/session';
const SECRET_LENGTH_MAX = 256;

export interface SessionRouteOptions<Entry extends RouteEntry> {
  /** The member of the body that holds what a person signs in with. */
  readonly secretMember: 'token' | 'key';
  readonly budget: BodyBudget;
  readonly sessions: { end(exchange: Exchange): Promise<void>; endAll(exchange: Exchange): Promise<void> };
  /** Begins a session and returns who is signed in, or refuses the secret. */
  readonly signIn: (exchange: Exchange, secret: string) => Promise<object>;
  readonly readMe: (exchange: Exchange) => Promise<object> | object;
  /** Builds a route that needs a session. */
  readonly route: (route: ConsoleRoute) => Entry;
}

/** The routes of both consoles that sign in and out, and say who is signed in. */
export function sessionRoutes<Entry extends RouteEntry>(options: SessionRouteOptions<Entry>): (RouteEntry | Entry)[] {
  const { secretMember, budget, sessions, signIn, readMe, route } = options;
  const validate = bodyValidator<Readonly<Record<string, string>>>({
    type: 'object',
    additionalProperties: false,
    required: [secretMember],
    properties: { [secretMember]: { type: 'string', maxLength: SECRET_LENGTH_MAX } },
  });
  return [
    {
      kind: 'console',
      methods: ['POST'],
      path: PATH,
      handle: async (exchange) => {
        const { [secretMember]: secret = '' } = validate(await readJsonBody(exchange, { budget }));
        exchange.body = await signIn(exchange, secret.trim());
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
    route({
      method: 'DELETE',
      path: '/sessions',
      name: 'signOutEverywhere',
      answer: async (exchange) => {
        await sessions.endAll(exchange);
        return {};
      },
    }),
    route({ method: 'GET', path: '/me', name: 'getMe', answer: readMe }),
  ];
}
