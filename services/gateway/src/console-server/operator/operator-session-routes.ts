import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import type { OperatorMe } from '../../../console/api/session.ts';
import { withDeadline } from '../../clients/caller.ts';
import type { OperatorClients } from '../../clients/gateway-clients.ts';
import type { OperatorDoor } from '../../operations/operator-door.ts';
import type { BodyBudget } from '../../http/bodies/body-budget.ts';
import type { Exchange } from '../../http/http-exchange.ts';
import type { SignedInOperator } from '../../domain/operator-role.ts';
import { sessionRoutes } from '../session/session-routes.ts';
import type { OperatorSessions } from '../session/operator-sessions.ts';
import { ifReadable } from '../client/task-parts.ts';
import type { ReadOperatorStatus } from './status.ts';
import { operatorRoute } from './operator-route.ts';
import type { OperatorRouteEntry } from './operator-route.ts';

/** Every page shows the number of what waits, and none waits for it. */
const COUNT_DEADLINE_MS = 1000;
/** A larger number is shown as this one and more. */
const COUNT_MAX = 200;

export interface OperatorSessionParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly budget: BodyBudget;
  readonly door: OperatorDoor;
  readonly tasks: OperatorClients['tasks'];
  readonly readStatus: ReadOperatorStatus;
}

/** Signs an operator in and out, and says who is signed in. The session is a cookie of this door. */
export function operatorSessionRoutes(
  { clock, log, budget, door, tasks, readStatus }: OperatorSessionParts,
  sessions: OperatorSessions,
): OperatorRouteEntry[] {
  const showMe = async ({ name, role }: SignedInOperator, { state }: Exchange): Promise<OperatorMe> => {
    const [counted, status] = await Promise.all([
      ifReadable(log, 'attention', tasks.countAttention({}, withDeadline(state, COUNT_DEADLINE_MS))),
      ifReadable(log, 'status', readStatus(state)),
    ]);
    const count = counted && Number(counted.waiting);
    return {
      ...{ name, role },
      ...(count === undefined ? {} : { waiting: { count: Math.min(count, COUNT_MAX), hasMore: count > COUNT_MAX } }),
      ...(status === undefined ? {} : { status }),
      now: clock.now(),
    };
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
