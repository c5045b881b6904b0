import type { Clock } from '@reelgate/platform/clock';
import type { WaitingChange, WaitingChangeRequest, WaitingList } from '../../../console/api/operator-waiting.ts';
import type { WaitingTasks } from '../../clients/queue-client.ts';
import { bodyValidator } from '../../dialects/wire/body-validator.ts';
import { covers } from '../../domain/operator-role.ts';
import type { BodyBudget } from '../../http/bodies/body-budget.ts';
import { readJsonBody } from '../console-route.ts';
import { operatorRoute } from './operator-route.ts';
import type { OperatorRouteEntry } from './operator-route.ts';
import { requireOperator } from './operator-session-routes.ts';
import { REASON_SCHEMA, readReason } from './read-request.ts';

const CHANGES: readonly WaitingChange[] = ['weight', 'hold', 'release', 'cancel'];

const ID_SCHEMA = { type: 'string', minLength: 1, maxLength: 256 } as const;
const changeBody = bodyValidator<WaitingChangeRequest>({
  type: 'object',
  additionalProperties: false,
  required: ['reason'],
  properties: {
    accountId: ID_SCHEMA,
    model: ID_SCHEMA,
    weight: { type: 'integer', minimum: 1, maximum: 1000 },
    reason: REASON_SCHEMA,
  },
});

interface QueueParts {
  readonly clock: Clock;
  readonly budget: BodyBudget;
  readonly waiting: WaitingTasks;
}

/** The tasks that wait for a channel, and the decisions of operators over them. */
export function queueRoutes({ clock, budget, waiting }: QueueParts): OperatorRouteEntry[] {
  return [
    operatorRoute({
      method: 'GET',
      path: '/queue',
      name: 'listQueue',
      role: 'viewer',
      answer: async (exchange): Promise<WaitingList> => ({
        ...(await waiting.list(exchange.state)),
        canOperate: covers(requireOperator(exchange).role, 'operator'),
        now: clock.now(),
      }),
    }),
    ...CHANGES.map((change) =>
      operatorRoute({
        method: 'POST',
        path: `/queue/${change}`,
        name: `${change}Queue`,
        role: 'operator',
        answer: async (exchange) => {
          const body = changeBody(await readJsonBody(exchange, { budget }));
          const act = { ...body, reason: readReason(body), actor: requireOperator(exchange).name };
          return waiting.change(change, act, exchange.state);
        },
      }),
    ),
  ];
}
