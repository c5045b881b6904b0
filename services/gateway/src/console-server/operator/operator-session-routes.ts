import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import type { OperatorMe } from '../../../console/api/session.ts';
import type { AttentionQueue } from '../../clients/attention-client.ts';
import { bodyValidator } from '../../dialects/wire/body-validator.ts';
import type { OperatorDoor } from '../../operations/operator-door.ts';
import type { BodyBudget } from '../../http/bodies/body-budget.ts';
import type { Exchange } from '../../http/http-exchange.ts';
import { consoleDoc } from '../console-route.ts';
import { readJsonBody } from '../console-route.ts';
import type { SignedInOperator } from '../../domain/operator-role.ts';
import type { OperatorSessions } from '../session/operator-sessions.ts';
import { ifReadable } from '../client/task-parts.ts';
import { ITEMS_MAX } from './attention-decisions.ts';
import type { ReadOperatorStatus } from './watch-status.ts';
import { operatorRoute } from './operator-route.ts';
import type { OperatorRouteEntry } from './operator-route.ts';

const PATH = '/console/api/session';
const signIn = bodyValidator<{ readonly key: string }>({
  type: 'object',
  additionalProperties: false,
  required: ['key'],
  properties: { key: { type: 'string', maxLength: 256 } },
});

export interface OperatorSessionParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly budget: BodyBudget;
  readonly door: OperatorDoor;
  readonly attention: AttentionQueue;
  readonly readStatus: ReadOperatorStatus;
}

/** Signs an operator in and out, and says who is signed in. */
export function operatorSessionRoutes(
  { clock, log, budget, door, attention, readStatus }: OperatorSessionParts,
  sessions: OperatorSessions,
): OperatorRouteEntry[] {
  const showMe = async ({ name, role }: SignedInOperator, { state }: Exchange): Promise<OperatorMe> => {
    const [count, status] = await Promise.all([
      ifReadable(log, 'attention', attention.count(state)),
      ifReadable(log, 'status', readStatus(state)),
    ]);
    const waiting =
      count === undefined ? {} : { waiting: { count: Math.min(count, ITEMS_MAX), hasMore: count > ITEMS_MAX } };
    return { name, role, ...waiting, ...(status === undefined ? {} : { status }), now: clock.now() };
  };
  return [
    {
      kind: 'console',
      methods: ['POST'],
      path: PATH,
      handle: async (exchange) => {
        const { key } = signIn(await readJsonBody(exchange, { budget }));
        const begin = () => sessions.begin(exchange, key.trim());
        exchange.body = await showMe(await door.pass(exchange.state.source(), begin), exchange);
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
    operatorRoute({
      method: 'DELETE',
      path: '/sessions',
      name: 'signOutEverywhere',
      role: 'viewer',
      answer: async (exchange) => {
        await sessions.endAll(exchange);
        return {};
      },
    }),
    operatorRoute({
      method: 'GET',
      path: '/me',
      name: 'getMe',
      role: 'viewer',
      answer: (exchange) => showMe(requireOperator(exchange), exchange),
    }),
  ];
}

/** Returns the operator who is signed in, on a route that needs a role. */
export function requireOperator({ state }: Exchange): SignedInOperator {
  if (state.operator === undefined) throw new Error('an open route has no operator');
  return state.operator;
}
