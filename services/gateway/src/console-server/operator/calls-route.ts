import { fromJson, getOption, hasOption, toJson } from '@bufbuild/protobuf';
import type { DescField, DescMethod, DescService, JsonValue, Message } from '@bufbuild/protobuf';
import { reflect } from '@bufbuild/protobuf/reflect';
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import type { Problem } from '@reelgate/platform/problem';
import { readAccessRule } from '@reelgate/platform/rpc/access';
import type { CallOptions } from '@reelgate/platform/rpc/service';
import { deriveWords } from '@reelgate/platform/rpc/enum-words';
import { assertJson } from '@reelgate/platform/rpc/strict-json';
import { Role as WireRole } from '@reelgate/proto/access/v1/access';
import { repeatable_with as repeatableWith } from '@reelgate/proto/rules/v1/rules';
import { AccountService } from '@reelgate/proto/billing/v1/account_service';
import { BillingService } from '@reelgate/proto/billing/v1/billing_service';
import { UsageService } from '@reelgate/proto/billing/v1/usage_service';
import { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import { QueueService } from '@reelgate/proto/tasks/v1/queue_service';
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
/** The deadline of RPCs that read or change many accounts or tasks, or call an upstream. Others have the default. */
const SLOW_DEADLINE_MS = 25_000;
const SLOW: ReadonlySet<string> = new Set([
  ...['GetMargins', 'GetMoney', 'VerifyLedger'].map((name) => `billing.AccountService/${name}`),
  'tasks.OperatorService/TestChannel',
  'tasks.QueueService/CancelQueued',
]);
/** The field of a request that names the person who acts. The session fills it in. */
const ACTOR = 'actor';
/** The field of an act that says why, for the record. */
const REASON = 'reason';
const VISIBLE = /\S/;

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
    const deadline = withDeadline(state, SLOW.has(rpc) ? SLOW_DEADLINE_MS : undefined);
    const answer = await call(readRequest(method, request, operator), deadline);
    return { answer: toJson(method.output, answer, { alwaysEmitImplicit: true }) as object };
  } catch (thrown) {
    const problem = toProblem(thrown);
    logRefusal(log, { rpc, isAct: isAct(rpcs.get(rpc)), problem, thrown, exchange });
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
function readRequest(method: DescMethod, request: object, { name }: SignedInOperator): Message {
  const { input } = method;
  assertJson(input, JSON.stringify(request));
  const hasActor = input.fields.some((field) => field.name === ACTOR);
  const message = fromJson(input, {
    ...(request as Readonly<Record<string, JsonValue>>),
    ...(hasActor ? { [ACTOR]: name } : {}),
  });
  assertAct(method, message);
  return message;
}

/**
 * Refuses an act that would leave less in the record than the acts of the pages: with a field that names another actor,
 * without a reason, or without the id that makes a repeat harmless.
 */
function assertAct(method: DescMethod, message: Message): void {
  const isSet = (field: DescField): boolean => reflect(method.input, message).isSet(field);
  const find = (name: string): DescField | undefined => method.input.fields.find((field) => field.name === name);
  for (const name of readAccessRule(method).notFromConsole) {
    const field = find(name);
    if (field !== undefined && isSet(field))
      throw refuse('invalid_request', { field: name, message: 'is not for the console; leave it out' });
  }
  if (!isAct({ method })) return;
  const reason = find(REASON);
  const why: unknown = reason && reflect(method.input, message).get(reason);
  if (typeof why === 'string' && !VISIBLE.test(why))
    throw refuse('invalid_request', { field: REASON, message: 'must say why, with at least one visible character' });
  const repeatable = hasOption(method, repeatableWith) ? find(getOption(method, repeatableWith)) : undefined;
  if (repeatable !== undefined && !isSet(repeatable))
    throw refuse('invalid_request', { field: repeatable.name, message: 'is required, so that a repeat is harmless' });
}

/** Reports whether an RPC changes something. */
function isAct(rpc: Pick<PassedRpc, 'method'> | undefined): boolean {
  return rpc !== undefined && rpc.method.idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
}

interface RefusedCall {
  readonly rpc: string;
  readonly isAct: boolean;
  readonly problem: Problem;
  readonly thrown: unknown;
  readonly exchange: Exchange;
}

/** A failed call and a refused act have a line with the RPC and the person, because the request itself succeeds. */
function logRefusal(log: Log, { rpc, isAct: isOfAct, problem, thrown, exchange }: RefusedCall): void {
  const { requestId, operator } = exchange.state;
  const fields = { rpc, operator: operator?.name, reason: problem.reason, requestId };
  if (problem.kind === 'internal') log.error({ ...fields, err: thrown }, 'a call of the console failed');
  else if (problem.kind === 'unavailable') log.warn({ ...fields, err: thrown }, 'a call of the console failed');
  else if (isOfAct) log.warn(fields, 'an act at the console was refused');
}
