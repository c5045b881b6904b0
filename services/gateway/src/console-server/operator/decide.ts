import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import { isProblem } from '@reelgate/platform/problem';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import type { Act } from '@reelgate/proto/access/v1/act';
import { ChargeSchema } from '@reelgate/proto/billing/v1/hold';
import { Resolution } from '@reelgate/proto/tasks/v1/operator_service';
import type { DecisionAnswer, DecisionRequest } from '../../../console/api/operator-attention.ts';
import { withDeadline } from '../../clients/caller.ts';
import type { Caller } from '../../clients/caller.ts';
import type { OperatorClients } from '../../clients/gateway-clients.ts';
import { bodyValidator } from '../../dialects/wire/body-validator.ts';
import type { BodyBudget } from '../../http/bodies/body-budget.ts';
import { ifReadable } from '../client/task-parts.ts';
import { refuse } from '../../refusals.ts';
import { readJsonBody } from '../console-route.ts';
import { toContractJson } from '../contract-json.ts';
import { operatorRoute } from './operator-route.ts';
import type { OperatorRouteEntry } from './operator-route.ts';
import { requireOperator } from './operator-session-routes.ts';
import { REASON_SCHEMA, readReason } from './read-request.ts';

const DECISION = 'attention_resolved';
/** A decision is the last act over its subject, or one of the last few. */
const ACTS_READ = 20;
const RESOLUTIONS = deriveValues(Resolution);

const decision = bodyValidator<DecisionRequest>({
  type: 'object',
  additionalProperties: false,
  required: ['resolution', 'reason'],
  properties: { resolution: { enum: ['completed', 'failed', 'retry'] }, reason: REASON_SCHEMA },
});

interface DecideParts {
  readonly clients: OperatorClients;
  readonly clock: Clock;
  readonly log: Log;
  readonly budget: BodyBudget;
}

interface WantedDecision extends DecisionRequest {
  readonly id: string;
  readonly actor: string;
}

/** `POST /attention/{id}`: decides over a task or a job that waits for a person. */
export function decideRoute(parts: DecideParts): OperatorRouteEntry {
  return operatorRoute({
    method: 'POST',
    path: '/attention/{id}',
    name: 'resolveAttention',
    role: 'operator',
    answer: async (exchange) => {
      const body = decision(await readJsonBody(exchange, { budget: parts.budget }));
      const { name: actor } = requireOperator(exchange);
      const wanted = { id: exchange.params['id'] ?? '', resolution: body.resolution, actor, reason: readReason(body) };
      return decide(parts, wanted, exchange.state);
    },
  });
}

/**
 * Carries out a decision, and answers what it did to the money. A page that never saw the answer sends the decision
 * again, and gets the answer to the first one. A decision of another person is told.
 */
async function decide(
  { clients, clock, log }: DecideParts,
  wanted: WantedDecision,
  caller: Caller,
): Promise<DecisionAnswer> {
  const { id, resolution, actor, reason } = wanted;
  const { tasks, billing } = clients;
  const request = { taskId: id, resolution: RESOLUTIONS[resolution], actor, reason };
  const at = await tasks.resolveAttention(request, withDeadline(caller)).then(
    () => clock.now(),
    async (error: unknown) => {
      if (!isProblem(error, 'not_in_attention')) throw error;
      const acts = tasks.listActs({ limit: ACTS_READ, subject: id }, withDeadline(caller));
      return readFirst((await ifReadable(log, 'acts', acts))?.acts ?? [], wanted, error);
    },
  );
  const booked = await ifReadable(log, 'money', billing.listCharges({ taskIds: [id] }, withDeadline(caller)));
  const charge = booked?.charges.find(({ taskId }) => taskId === id);
  return {
    ...{ resolution, at },
    ...(charge && { charge: toContractJson(ChargeSchema, charge) }),
  };
}

/**
 * Returns the time at which the visitor made the same decision before. Throws if another person decided, or if no
 * decision is recorded.
 */
function readFirst(acts: readonly Act[], { resolution, actor, reason }: WantedDecision, refusal: Error): number {
  const last = acts.find(({ action }) => action === DECISION);
  if (last === undefined) throw refusal;
  const { resolution: decided } = JSON.parse(last.detailJson) as { readonly resolution?: string };
  if (last.actor === actor && last.reason === reason && decided === resolution)
    return last.at === undefined ? 0 : timestampMs(last.at);
  throw refuse('not_in_attention', {
    message: `${last.actor} has decided it as ${decided ?? ''}: ${last.reason}`,
    cause: refusal,
  });
}
