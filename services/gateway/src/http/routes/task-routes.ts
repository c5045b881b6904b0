import { submitOrder } from '../../operations/submit-order.ts';
import { awaitChange } from '../../operations/await-change.ts';
import { cancelOrDeleteTask } from '../../operations/cancel-or-delete-task.ts';
import { isFinal } from '../../clients/tasks-client.ts';
import type { Task } from '../../clients/tasks-client.ts';
import type { CreateRoute, Dialect, EndRoute, ListRoute, ReadRoute } from '../../dialects/dialect.ts';
import type { Exchange } from '../exchange.ts';
import { principalOf } from '../exchange.ts';
import { fingerprintOf } from '../bodies/fingerprint.ts';
import type { GatewayParts } from '../gateway-parts.ts';
import { idempotencyKeyOf } from '../headers/idempotency-key.ts';
import { pollHints } from '../headers/poll-hints.ts';
import { preferredWait } from '../headers/preferred-wait.ts';
import { readExchangeBody } from '../bodies/exchange-body.ts';
import type { RouteDoc, RouteEntry } from './route.ts';
import { taskIdOf } from './task-id.ts';
import { openWaitPermits } from './wait-permits.ts';
import type { WaitPermits } from './wait-permits.ts';

const LIST_DEADLINE_MS = 15_000;

/** The routes of every dialect. Each kind of route has the same steps in every dialect. */
export function taskRoutes(dialects: readonly Dialect[], parts: GatewayParts): RouteEntry[] {
  const waits = openWaitPermits();
  return dialects.flatMap((dialect) => [
    ...dialect.creates.map((route): RouteEntry => ({
      methods: ['POST'],
      path: route.path,
      token: { counts: 'creates' },
      handle: (exchange) => create(parts, route, exchange),
      doc: {
        ...docOf(dialect, route),
        headers: ['Idempotency-Key'],
        answerHeaders: ['idempotent-replayed'],
        refuses: [404, 409, 422],
        json: route.body,
        ...(route.form === undefined ? {} : { form: route.form }),
      },
    })),
    ...dialect.reads.map((route): RouteEntry => ({
      methods: ['GET'],
      path: route.path,
      token: { counts: 'reads' },
      handle: (exchange) => read(parts, waits, route, exchange),
      doc: {
        ...docOf(dialect, route),
        headers: ['Prefer'],
        answerHeaders: ['openai-poll-after-ms', 'retry-after', 'preference-applied'],
        refuses: [404],
      },
    })),
    ...dialect.lists.map((route): RouteEntry => ({
      methods: ['GET'],
      path: route.path,
      token: { counts: 'reads' },
      handle: (exchange) => list(parts, route, exchange),
      doc: { ...docOf(dialect, route), parameters: route.parameters, refuses: [400] },
    })),
    ...dialect.ends.map((route): RouteEntry => ({
      methods: [route.method],
      path: route.path,
      token: { counts: 'reads' },
      handle: (exchange) => end(parts, route, exchange),
      doc: { ...docOf(dialect, route), refuses: [404, 409] },
    })),
  ]);
}

/** Reads the body, decodes it, submits the order and encodes the task. */
async function create(parts: GatewayParts, route: CreateRoute, exchange: Exchange): Promise<void> {
  const key = idempotencyKeyOf(exchange.req.headers['idempotency-key']);
  const body = await readExchangeBody(exchange, parts, route.form !== undefined);
  const decoded = route.decode(body, { models: parts.catalogue().models, params: exchange.params });
  const { task, replayed } = await submitOrder(parts, {
    decoded,
    principal: principalOf(exchange),
    requestId: exchange.state.requestId,
    onSubmit: () => {
      exchange.state.submitted = true;
    },
    idempotency:
      key === undefined
        ? undefined
        : { key, fingerprint: fingerprintOf({ method: exchange.method, path: exchange.path, body }) },
  });
  exchange.state.taskId = task.id;
  if (replayed) exchange.set('idempotent-replayed', 'true');
  answer(exchange, route.encode(task, parts.links));
}

async function read(parts: GatewayParts, waits: WaitPermits, route: ReadRoute, exchange: Exchange): Promise<void> {
  const task = await readOrWait(parts, waits, exchange);
  if (!isFinal(task)) exchange.set(pollHints(task));
  answer(exchange, route.encode(task, parts.links));
}

async function readOrWait(parts: GatewayParts, waits: WaitPermits, exchange: Exchange): Promise<Task> {
  const ref = { accountId: principalOf(exchange).accountId, taskId: taskIdOf(exchange) };
  const { requestId, gone } = exchange.state;
  const seconds = preferredWait(exchange.req.headers['prefer']);
  if (seconds === undefined || !waits.tryAcquire()) return parts.reader.read(ref, requestId);
  try {
    exchange.set('preference-applied', `wait=${String(seconds)}`);
    return await awaitChange(parts, {
      task: ref,
      ms: seconds * 1000,
      requestId,
      gone: AbortSignal.any([gone, parts.stopping]),
    });
  } finally {
    waits.release();
  }
}

async function list(parts: GatewayParts, route: ListRoute, exchange: Exchange): Promise<void> {
  const query = route.decode(new URLSearchParams(exchange.querystring));
  const { accountId } = principalOf(exchange);
  const { tasks, hasMore, total } = await parts.tasks.listTasks(
    { accountId, ...query },
    { timeoutMs: LIST_DEADLINE_MS, requestId: exchange.state.requestId },
  );
  answer(exchange, route.encode({ tasks, hasMore, total: Number(total) }, parts.links));
}

async function end(parts: GatewayParts, route: EndRoute, exchange: Exchange): Promise<void> {
  const ref = { accountId: principalOf(exchange).accountId, taskId: taskIdOf(exchange) };
  answer(
    exchange,
    route.encode(await cancelOrDeleteTask(parts, ref, route.ends, exchange.state.requestId), parts.links),
  );
}

function answer(exchange: Exchange, body: object): void {
  exchange.status = 200;
  exchange.body = body;
}

function docOf(
  dialect: Dialect,
  route: {
    readonly operationId: string;
    readonly summary: string;
    readonly description?: string;
    readonly answer: RouteDoc['answers'][string];
  },
): RouteDoc {
  const { operationId, summary, description } = route;
  return {
    tag: dialect.name,
    operationId,
    summary,
    ...(description === undefined ? {} : { description }),
    answers: { 'application/json': route.answer },
  };
}
