import { thenMaybe } from '@reelgate/platform/maybe-promise';
import type { MaybePromise } from '@reelgate/platform/maybe-promise';
import { withDeadline } from '../../clients/caller.ts';
import type { AccountCaller } from '../../clients/caller.ts';
import type { ChargeReader, ChargeReading } from '../../operations/read-charge.ts';
import { submitOrder } from '../../operations/submit-order.ts';
import type { SubmitOrderDeps } from '../../operations/submit-order.ts';
import { awaitChange } from '../../operations/await-change.ts';
import type { AwaitChangeDeps, WaitPermits } from '../../operations/await-change.ts';
import { cancelTask, deleteTask } from '../../operations/end-task.ts';
import type { EndTaskDeps } from '../../operations/end-task.ts';
import { isFinal } from '../../clients/tasks-client.ts';
import type { Task, TaskRef } from '../../clients/tasks-client.ts';
import type { CreateRoute, Dialect, EndRoute, Links, ListRoute, ReadRoute, TaskPage } from '../../dialects/dialect.ts';
import { waitWithAccess } from '../admission/watch-access.ts';
import type { WaitAccessParts } from '../admission/watch-access.ts';
import type { Exchange } from '../http-exchange.ts';
import { requirePrincipal } from '../http-exchange.ts';
import { computeFingerprint } from '../bodies/fingerprint.ts';
import { ANNOTATION_HEADERS } from '../../domain/annotations.ts';
import type { Catalogue } from '../../domain/model-defaults.ts';
import {
  formatAppliedWait,
  readIdempotencyKey,
  readAnnotations,
  readPreferredWait,
  readWaitPreference,
  setPollHints,
} from '../headers.ts';
import { readExchangeBody } from '../bodies/read-body.ts';
import type { BodyBounds } from '../bodies/read-body.ts';
import type { AnswerSchema } from '../../domain/schema.ts';
import type { RouteDoc, RouteEntry } from './route.ts';
import { readTaskId } from './task-id.ts';

const LIST_DEADLINE_MS = 15_000;
/** Of a route that does not show charges. */
const NO_CHARGE: ChargeReading = { charge: undefined, isLasting: true };
const NO_CHARGES: TaskPage['charges'] = new Map();
const JSON_TYPE = 'application/json; charset=utf-8';

/** The parts that the routes of tasks need. */
export interface TaskRouteParts extends BodyBounds, WaitAccessParts, SubmitOrderDeps, AwaitChangeDeps, EndTaskDeps {
  readonly charges: ChargeReader;
  readonly links: Links;
  readonly waits: WaitPermits;
  readonly catalogue: () => Catalogue;
}

/** The routes of every dialect. Each kind of route has the same steps in every dialect. */
export function taskRoutes(dialects: readonly Dialect[], parts: TaskRouteParts): RouteEntry[] {
  return dialects.flatMap((dialect) => [
    ...dialect.creates.map((route): RouteEntry => ({
      kind: 'create',
      methods: ['POST'],
      path: route.path,
      token: { counts: 'creates' },
      handle: (exchange) => createTask(parts, route, exchange),
      doc: {
        ...describeTaskRoute(dialect, route),
        headers: ['Idempotency-Key', ...ANNOTATION_HEADERS, 'Prefer'],
        answerHeaders: ['idempotent-replayed', 'preference-applied'],
        refuses: [404, 409, 422],
        ...(route.status === undefined ? {} : { status: route.status }),
        json: route.body,
        ...(route.form === undefined ? {} : { form: route.form }),
      },
    })),
    ...dialect.reads.map((route) => readRoute(dialect, route, parts)),
    ...dialect.lists.map((route): RouteEntry => ({
      kind: 'read',
      methods: ['GET'],
      path: route.path,
      token: { counts: 'reads' },
      handle: (exchange) => listPage(parts, route, exchange),
      doc: { ...describeTaskRoute(dialect, route), parameters: route.parameters, refuses: [400] },
    })),
    ...dialect.ends.map((route): RouteEntry => ({
      kind: 'change',
      methods: [route.method],
      path: route.path,
      token: { counts: 'reads' },
      handle: (exchange) => endTask(parts, route, exchange),
      doc: { ...describeTaskRoute(dialect, route), refuses: [404, 409] },
    })),
  ]);
}

/** Reads the body, decodes it, submits the order and encodes the task. */
async function createTask(parts: TaskRouteParts, route: CreateRoute, exchange: Exchange): Promise<void> {
  const key = readIdempotencyKey(exchange.req.headers['idempotency-key']);
  const annotations = readAnnotations(exchange.req.headers);
  const body = await readExchangeBody(exchange, parts, route.form !== undefined);
  const decoded = route.decode(body, { models: parts.catalogue().models, params: exchange.params });
  const { task, replayed, applied } = await submitOrder(parts, {
    decoded,
    annotations,
    principal: requirePrincipal(exchange),
    requestId: exchange.state.requestId,
    span: exchange.state.span,
    wait: readWaitPreference(exchange.req.headers['prefer']),
    onSubmit: () => {
      exchange.state.submitted = true;
    },
    idempotency:
      key === undefined
        ? undefined
        : { key, fingerprint: await computeFingerprint({ method: exchange.method, path: exchange.path, body }) },
  });
  exchange.state.taskId = task.id;
  if (replayed) exchange.set('idempotent-replayed', 'true');
  const preference = formatAppliedWait(applied);
  if (preference !== '') exchange.set('preference-applied', preference);
  answer(exchange, route.answer.encode(task, parts.links), route.status);
}

function readRoute(dialect: Dialect, route: ReadRoute, parts: TaskRouteParts): RouteEntry {
  const encodeToText = encodeOnce(route, parts);
  return {
    kind: 'read',
    methods: ['GET'],
    path: route.path,
    token: { counts: 'reads' },
    handle: (exchange) =>
      thenMaybe(readOrWait(parts, exchange), (task) => {
        const text = encodeToText(task, exchange);
        // a poll with a known text does not create a further closure
        return typeof text === 'string' ? showTask(exchange, task, text) : showLater(exchange, task, text);
      }),
    doc: {
      ...describeTaskRoute(dialect, route),
      headers: ['Prefer'],
      answerHeaders: ['openai-poll-after-ms', 'retry-after', 'preference-applied'],
      refuses: [404],
    },
  };
}

/** A task that has not changed is the same value in the cache, and its body is the same text if its charge lasts. */
function encodeOnce(route: ReadRoute, parts: TaskRouteParts): (task: Task, exchange: Exchange) => MaybePromise<string> {
  const texts = new WeakMap<Task, string>();
  const encode = (task: Task, { charge, isLasting }: ChargeReading): string => {
    const text = JSON.stringify(route.answer.encode(task, parts.links, charge));
    if (isLasting) texts.set(task, text);
    return text;
  };
  return (task, exchange) => {
    const known = texts.get(task);
    if (known !== undefined) return known;
    if (route.showsCharge !== true) return encode(task, NO_CHARGE);
    return thenMaybe(parts.charges.read(task, toAccountCaller(exchange)), (reading) => encode(task, reading));
  };
}

function toAccountCaller(exchange: Exchange): AccountCaller {
  const { requestId, span } = exchange.state;
  return { accountId: requirePrincipal(exchange).accountId, requestId, span };
}

/** Writes to the response itself: each setter of Koa's context takes a slow way there, and polls are frequent. */
function showTask({ res, response }: Exchange, task: Task, text: string): void {
  if (!isFinal(task)) setPollHints(res, task);
  response.status = 200;
  res.setHeader('content-type', JSON_TYPE);
  response.body = text;
}

async function showLater(exchange: Exchange, task: Task, text: Promise<string>): Promise<void> {
  showTask(exchange, task, await text);
}

function readOrWait(parts: TaskRouteParts, exchange: Exchange): MaybePromise<Task> {
  const ref = { accountId: requirePrincipal(exchange).accountId, taskId: readTaskId(exchange) };
  const { requestId, span } = exchange.state;
  const seconds = readPreferredWait(exchange.req.headers['prefer']);
  return seconds === undefined || !parts.waits.tryAcquire()
    ? parts.reader.read(ref, requestId, span)
    : waitWithPermit(parts, exchange, ref, seconds);
}

async function waitWithPermit(parts: TaskRouteParts, exchange: Exchange, ref: TaskRef, seconds: number): Promise<Task> {
  const { requestId, span } = exchange.state;
  try {
    exchange.set('preference-applied', `wait=${seconds}`);
    return await waitWithAccess(parts, exchange, (gone) =>
      awaitChange(parts, { task: ref, ms: seconds * 1000, requestId, span, gone }),
    );
  } finally {
    parts.waits.release();
  }
}

async function listPage(parts: TaskRouteParts, route: ListRoute, exchange: Exchange): Promise<void> {
  const query = route.decode(new URLSearchParams(exchange.querystring));
  const caller = toAccountCaller(exchange);
  const { tasks, hasMore, total } = await parts.tasks.listTasks(
    { accountId: caller.accountId, ...query },
    withDeadline(caller, LIST_DEADLINE_MS),
  );
  const charges = route.showsCharges === true ? await parts.charges.readAll(tasks, caller) : NO_CHARGES;
  answer(exchange, route.answer.encode({ tasks, hasMore, total: Number(total), charges }, parts.links));
}

async function endTask(parts: TaskRouteParts, route: EndRoute, exchange: Exchange): Promise<void> {
  const ref = { accountId: requirePrincipal(exchange).accountId, taskId: readTaskId(exchange) };
  const { requestId, span } = exchange.state;
  if (route.ends === 'cancel') {
    answer(exchange, route.answer.encode(await cancelTask(parts, ref, { requestId, span }), parts.links));
  } else {
    await deleteTask(parts, ref, { requestId, span });
    answer(exchange, route.answer.encode(ref.taskId));
  }
}

function answer(exchange: Exchange, body: object, status: RouteDoc['status'] = 200): void {
  exchange.status = status;
  exchange.body = body;
}

function describeTaskRoute(
  dialect: Dialect,
  route: {
    readonly operationId: string;
    readonly summary: string;
    readonly description?: string;
    readonly answer: { readonly schema: AnswerSchema };
  },
): RouteDoc {
  const { operationId, summary, description } = route;
  return {
    tag: dialect.name,
    operationId,
    summary,
    ...(description === undefined ? {} : { description }),
    answers: { 'application/json': route.answer.schema },
  };
}
