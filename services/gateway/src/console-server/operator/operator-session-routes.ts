import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import type { OperatorMe } from '../../../console/api/session.ts';
import type { AttentionQueue } from '../../clients/attention-client.ts';
import type { OperatorDoor } from '../../operations/operator-door.ts';
import type { BodyBudget } from '../../http/bodies/body-budget.ts';
import type { Exchange } from '../../http/http-exchange.ts';
import type { SignedInOperator } from '../../domain/operator-role.ts';
import { sessionRoutes } from '../session/session-routes.ts';
import type { OperatorSessions } from '../session/operator-sessions.ts';
import { ifReadable } from '../client/task-parts.ts';
import { ITEMS_MAX } from './attention-decisions.ts';
import type { ReadOperatorStatus } from './watch-status.ts';
import { operatorRoute } from './operator-route.ts';
import type { OperatorRouteEntry } from './operator-route.ts';

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
  return sessionRoutes({
    secretMember: 'key',
    budget,
    sessions,
    signIn: async (exchange, key) => {
      const begin = () => sessions.begin(exchange, key);
      return showMe(await door.pass(exchange.state.source(), begin), exchange);
    },
    readMe: (exchange) => showMe(requireOperator(exchange), exchange),
    route: (route) => operatorRoute({ ...route, role: 'viewer' }),
  });
}

/** Returns the operator who is signed in, on a route that needs a role. */
export function requireOperator({ state }: Exchange): SignedInOperator {
  if (state.operator === undefined) throw new Error('an open route has no operator');
  return state.operator;
}
