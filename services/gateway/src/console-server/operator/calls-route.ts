import { fromJson, toJson } from '@bufbuild/protobuf';
import type { DescMethod, DescService, JsonValue, Message } from '@bufbuild/protobuf';
import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import { readAccessRule } from '@reelgate/platform/rpc/access';
import type { CallOptions } from '@reelgate/platform/rpc/service';
import { deriveWords } from '@reelgate/platform/rpc/enum-words';
import { assertJson } from '@reelgate/platform/rpc/strict-json';
import { Role as WireRole } from '@reelgate/proto/access/v1/access';
import { AccountService } from '@reelgate/proto/billing/v1/account_service';
import { BillingService } from '@reelgate/proto/billing/v1/billing_service';
import { UsageService } from '@reelgate/proto/billing/v1/usage_service';
import { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import { QueueService } from '@reelgate/proto/tasks/v1/queue_service';
import { WebhookService } from '@reelgate/proto/tasks/v1/webhook_service';
import type { CallAnswers, PassedAnswer, PassedCall, Refusal } from '../../../console/api/calls.ts';
import { withDeadline } from '../../clients/caller.ts';
import type { OperatorClients } from '../../clients/gateway-clients.ts';
import { bodyValidator } from '../../dialects/wire/body-validator.ts';
import type { Role, SignedInOperator } from '../../domain/operator-role.ts';
import { toAnswer, toProblem } from '../../http/answer-problem.ts';
import type { BodyBudget } from '../../http/bodies/body-budget.ts';
import type { Exchange } from '../../http/http-exchange.ts';
import { readJsonBody } from '../console-route.ts';
import { assertRole } from '../session/operator-sessions.ts';
import { operatorRoute } from './operator-route.ts';
import type { OperatorRouteEntry } from './operator-route.ts';
import { requireOperator } from './operator-session-routes.ts';
import { refuse } from '../../refusals.ts';

/** No page reads more at once. */
const CALLS_MAX = 12;
const RPC_CHARACTERS_MAX = 128;
/** Margins by account read every account, in parts. */
const DEADLINE_MS = 25_000;
/** The field of a request that names the person who acts. The session fills it in. */
const ACTOR = 'actor';

/** The role that a call needs, by the role of its contract; undefined for an RPC that the console does not pass. */
const ROLES: Readonly<Record<WireRole, Role | undefined>> = deriveWords(WireRole);

const callsBody = bodyValidator<{ readonly calls: readonly PassedCall[] }>({
  type: 'object',
  additionalProperties: false,
  required: ['calls'],
  properties: {
    calls: {
      type: 'array',
      minItems: 1,
      maxItems: CALLS_MAX,
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['rpc', 'request'],
        properties: { rpc: { type: 'string', maxLength: RPC_CHARACTERS_MAX }, request: { type: 'object' } },
      },
    },
  },
});

interface Parts {
  readonly clients: OperatorClients;
  readonly clock: Clock;
  readonly log: Log;
  readonly budget: BodyBudget;
}

interface PassParts {
  readonly rpcs: ReadonlyMap<string, PassedRpc>;
  readonly log: Log;
}

/** An RPC that the contract opens to the operators of the console. */
interface PassedRpc {
  readonly role: Role;
  readonly method: DescMethod;
  readonly call: (request: Message, options: CallOptions) => Promise<Message>;
}

/**
 * `POST /calls`: passes calls to RPCs of the services, each under the role and the name of the session. A call that is
 * refused has its fault in its place, so a page shows the rest. The services check the requests by their contracts.
 */
export function callsRoute({ clients, clock, log, budget }: Parts): OperatorRouteEntry {
  const rpcs = listPassedRpcs(clients);
  return operatorRoute({
    method: 'POST',
    path: '/calls',
    name: 'passCalls',
    role: 'viewer',
    answer: async (exchange): Promise<CallAnswers> => {
      const { calls } = callsBody(await readJsonBody(exchange, { budget }));
      const answers = await Promise.all(calls.map((call) => passCall({ rpcs, log }, call, exchange)));
      return { answers, now: clock.now() };
    },
  });
}

/** Lists the RPCs with a role, by their names such as `billing.AccountService/GetMargins`. */
function listPassedRpcs(clients: OperatorClients): ReadonlyMap<string, PassedRpc> {
  const served: readonly (readonly [service: DescService, client: object])[] = [
    [OperatorService, clients.tasks],
    [QueueService, clients.queue],
    [WebhookService, clients.webhooks],
    [AccountService, clients.accounts],
    [BillingService, clients.billing],
    [UsageService, clients.usage],
  ];
  return new Map(
    served.flatMap(([service, client]) =>
      service.methods.flatMap((method) => {
        const role = ROLES[readAccessRule(method).role];
        if (role === undefined) return [];
        const call = (client as Readonly<Record<string, PassedRpc['call']>>)[method.localName];
        if (call === undefined) throw new Error(`the console has no client for ${nameRpc(method)}`);
        return [[nameRpc(method), { role, method, call }] as const];
      }),
    ),
  );
}

/** Names an RPC without the parts that all names share. */
function nameRpc({ parent, name }: DescMethod): string {
  return `${parent.typeName.replace(/^reelgate\.(\w+)\.v1\./, '$1.')}/${name}`;
}

async function passCall(
  { rpcs, log }: PassParts,
  { rpc, request }: PassedCall,
  exchange: Exchange,
): Promise<PassedAnswer> {
  const { state } = exchange;
  try {
    const { role, method, call } = findRpc(rpcs, rpc);
    const operator = requireOperator(exchange);
    assertRole(operator, role);
    const answer = await call(readRequest(method, request, operator), withDeadline(state, DEADLINE_MS));
    return { answer: toJson(method.output, answer, { alwaysEmitImplicit: true }) as object };
  } catch (thrown) {
    const problem = toProblem(thrown);
    if (problem.kind === 'internal' || problem.kind === 'unavailable')
      log.warn({ err: thrown, rpc, requestId: state.requestId }, 'a call of the console failed');
    const { status, body } = toAnswer(problem, { path: exchange.path, requestId: state.requestId });
    return { refusal: { status, ...(body as Refusal) } };
  }
}

function findRpc(rpcs: ReadonlyMap<string, PassedRpc>, name: string): PassedRpc {
  const found = rpcs.get(name);
  if (found !== undefined) return found;
  throw refuse('unknown_rpc', {
    field: 'rpc',
    message: 'must be an RPC that the console passes, such as tasks.OperatorService/ListNotes',
  });
}

/** Reads the request of a call. The operator who is signed in is its actor, whatever it says. */
function readRequest({ input }: DescMethod, request: object, { name }: SignedInOperator): Message {
  assertJson(input, JSON.stringify(request));
  const hasActor = input.fields.some((field) => field.name === ACTOR);
  return fromJson(input, {
    ...(request as Readonly<Record<string, JsonValue>>),
    ...(hasActor ? { [ACTOR]: name } : {}),
  });
}
