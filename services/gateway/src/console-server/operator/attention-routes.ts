import type { AttentionList, DecisionRequest } from '../../../console/api/operator-attention.ts';
import type { OpenMoney, WaitingItem } from '../../clients/attention-client.ts';
import { bodyValidator } from '../../dialects/wire/body-validator.ts';
import { covers } from '../../domain/operator-role.ts';
import type { BodyBudget } from '../../http/bodies/body-budget.ts';
import { readJsonBody } from '../console-route.ts';
import { ifReadable } from '../client/task-parts.ts';
import { toMoney } from '../views/money-view.ts';
import { ITEMS_MAX, listDecisions } from './attention-decisions.ts';
import { decide } from './decide.ts';
import type { DecideParts } from './decide.ts';
import { operatorRoute } from './operator-route.ts';
import type { OperatorRouteEntry } from './operator-route.ts';
import { requireOperator } from './operator-session-routes.ts';
import { REASON_SCHEMA, readReason } from './read-request.ts';

const decision = bodyValidator<DecisionRequest>({
  type: 'object',
  additionalProperties: false,
  required: ['resolution', 'reason'],
  properties: { resolution: { enum: ['completed', 'failed', 'retry'] }, reason: REASON_SCHEMA },
});

export interface AttentionParts extends DecideParts {
  readonly budget: BodyBudget;
}

/** The tasks and jobs that wait for a person, and the decisions over them. */
export function attentionRoutes(parts: AttentionParts): OperatorRouteEntry[] {
  const { attention, budget, log } = parts;
  return [
    operatorRoute({
      method: 'GET',
      path: '/attention',
      name: 'listAttention',
      role: 'viewer',
      answer: async (exchange): Promise<AttentionList> => {
        const all = await attention.list(exchange.state);
        const items = all.slice(0, ITEMS_MAX);
        const money = await ifReadable(
          log,
          'money',
          attention.money(
            items.map(({ id }) => id),
            exchange.state,
          ),
        );
        return {
          items: items.map((item) => toAttentionRow(item, money?.get(item.id))),
          hasMore: all.length > items.length,
          canDecide: covers(requireOperator(exchange).role, 'operator'),
          you: requireOperator(exchange).name,
        };
      },
    }),
    operatorRoute({
      method: 'POST',
      path: '/attention/{id}',
      name: 'resolveAttention',
      role: 'operator',
      answer: async (exchange) => {
        const body = decision(await readJsonBody(exchange, { budget }));
        const { resolution } = body;
        const reason = readReason(body);
        const id = exchange.params['id'] ?? '';
        const { name: actor } = requireOperator(exchange);
        return decide(parts, { id, resolution, actor, reason }, exchange.state);
      },
    }),
  ];
}

function toAttentionRow(item: WaitingItem, money: OpenMoney | undefined): AttentionList['items'][number] {
  return {
    ...item,
    ...(money === undefined ? {} : { held: toMoney(money.heldNanos, money.currency) }),
    decisions: listDecisions(item, money),
  };
}
