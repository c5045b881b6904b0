import { pageSizeMax, refusedOnceMax } from '../limits.ts';
import { invalidParams, internalError, refusalBy, unknownTask } from '../vendor-refusal.ts';
import type { Task } from '../task-life.ts';
import { findPhase, isFinished } from '../task-life.ts';
import { toWireTask } from '../wire-task.ts';
import type { ReadTrouble, CreateAnswer } from '../steering/script.ts';
import { checkCallbackUrl } from '../callbacks.ts';
import { pause } from '../sandbox-clock.ts';
import { acceptOrder } from '../creation/accept-order.ts';
import { orderFromDraft, sourceTask } from '../creation/order-from-draft.ts';
import type { Kind } from '../vendor-order.ts';
import type { SandboxParts } from '../sandbox-parts.ts';
import { steer } from '../steering/steering-words.ts';
import { readCreate } from '../validation/read-create.ts';
import { pictureKey } from '../render/picture-order.ts';
import type { RouteHandler, Answer } from './route-handler.ts';
import { json } from './route-handler.ts';

const pageSizeDefault = 20;

export const listTasks: RouteHandler = ({ query }, { book, clock, linkTo }) => {
  const number = readPage(query, 'page_num', 1, Number.MAX_SAFE_INTEGER);
  const size = readPage(query, 'page_size', pageSizeDefault, pageSizeMax);
  const now = clock.now();
  const tasks = book.newestFirst().filter((task) => isWanted(task, query, now));
  return json({
    items: tasks.slice((number - 1) * size, number * size).map((task) => toWireTask(task, now, linkTo)),
    total: tasks.length,
  });
};

function isWanted(task: Task, query: URLSearchParams, now: number): boolean {
  const ids = query.getAll('filter.task_ids').flatMap((value) => value.split(','));
  const facts = {
    'filter.status': findPhase(task, now).status,
    'filter.model': task.order.model,
    'filter.task_type': task.order.kind,
  };
  return (
    (ids.length === 0 || ids.includes(task.id)) &&
    Object.entries(facts).every(([name, fact]) => (query.get(name) ?? fact) === fact)
  );
}

function readPage(query: URLSearchParams, name: string, otherwise: number, max: number): number {
  const value = Number(query.get(name) ?? otherwise);
  if (!Number.isInteger(value) || value < 1 || value > max)
    throw invalidParams(`${name} must be an integer from 1${max === pageSizeMax ? ` to ${max}` : ''}`);
  return value;
}

export const queryTask: RouteHandler = ({ id }, { book, clock, linkTo }) => {
  const task = book.find(id);
  if (task === undefined) throw unknownTask();
  const { reads } = task.script;
  if (reads === undefined || task.reads >= reads.times) return json({ task: toWireTask(task, clock.now(), linkTo) });
  book.change(id, { reads: task.reads + 1 });
  return answerTrouble(reads);
};

function answerTrouble(trouble: ReadTrouble): Answer {
  if (trouble.as === 'refusal') throw refusalBy(trouble.number) ?? internalError();
  return { as: trouble.as };
}

/** Cancels a queued task, deletes a finished one, and refuses all others. */
export const deleteTask: RouteHandler = ({ id }, { book, clock, announcer }) => {
  const task = book.find(id);
  if (task === undefined) throw unknownTask();
  const phase = findPhase(task, clock.now());
  if (phase.status === 'queued') {
    book.change(id, { cancelledAt: clock.now() });
    announcer.check(id);
    return json({ task_id: id, action: 'cancelled', status: 'cancelled' });
  }
  if (!isFinished(phase) || phase.status === 'cancelled')
    throw invalidParams(`a ${phase.status} task can be neither cancelled nor deleted`);
  book.remove(id);
  return json({ task_id: id, action: 'deleted', status: 'deleted' });
};

/** Handles all three creates. Every refusal comes before the task exists. */
export function createTask(kind: Kind): RouteHandler {
  return async ({ body }, parts) => {
    const draft = readCreate(kind, body);
    const source = draft.sourceTaskId === undefined ? undefined : sourceTask(draft.sourceTaskId, parts);
    const text = source?.order.text ?? draft.text;
    const script = steer(text, kind);
    if (source !== undefined && !script.sourceIdsAllowed)
      throw invalidParams('source_task_id is not enabled for this account');
    const early = earlyAnswer(script.answer, `${kind} ${text}`, parts);
    if (early !== undefined) return early;

    const order = await orderFromDraft(draft, source, parts);
    if (order.callbackUrl !== undefined) await checkCallbackUrl(order.callbackUrl, parts.clock, parts.stopped);
    const task = await acceptOrder(order, script, parts);

    if (script.answerAfterMs > 0) await pause(parts.clock, script.answerAfterMs, parts.stopped);
    const { as } = script.answer;
    return as === 'silence' || as === 'cut' ? { as } : json({ task_id: task.id });
  };
}

/** Returns the answer of a create without a task, or undefined if the create has a task. */
function earlyAnswer(answer: CreateAnswer, text: string, { refusedOnce }: SandboxParts): Answer | undefined {
  if (answer.as === 'page') return answer;
  if (answer.as === 'no_id') return json({});
  if (answer.as === 'base_resp')
    return json({
      base_resp: { status_code: answer.number, status_msg: refusalBy(answer.number)?.message ?? 'internal error' },
    });
  if (answer.as === 'refusal') refuse(answer.number);
  if (answer.as === 'refusal_once' && !refusedOnce.has(text)) {
    if (refusedOnce.size >= refusedOnceMax) refusedOnce.clear();
    refusedOnce.add(text);
    refuse(answer.number);
  }
  return undefined;
}

function refuse(number: number): void {
  const refusal = refusalBy(number);
  if (refusal) throw refusal;
}

/** The bytes of a result link, whole or in part. */
export const resultBytes: RouteHandler = async ({ method, id, query, range }, { book, links, renders }) => {
  if (!links.isValid(id, query)) return { as: 'text', status: 403, text: 'this link is no longer valid' };
  const task = book.find(id);
  const picture = task?.picture;
  if (task === undefined || picture?.state !== 'ready' || task.script.result === 'dead')
    return { as: 'text', status: 404, text: 'there is nothing here' };
  if (task.script.result === 'page') return { as: 'page' };
  const bytes = await renders.render(picture.order);
  return sliceBytes(bytes, range, {
    etag: `"${pictureKey(picture.order).slice(0, 32)}"`,
    torn: task.script.result === 'torn' && method === 'GET',
  });
};

type SliceOptions = { readonly etag: string; readonly torn: boolean };

function sliceBytes(bytes: Uint8Array, range: string | undefined, { etag, torn }: SliceOptions): Answer {
  const headers = { 'content-type': 'video/mp4', 'accept-ranges': 'bytes', etag };
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(range ?? '') ?? [];
  if (first === '' && last === '') return { as: 'bytes', status: 200, headers, bytes, torn };
  const from = first === '' ? Math.max(0, bytes.length - Number(last)) : Number(first);
  const to = first === '' || last === '' ? bytes.length - 1 : Math.min(Number(last), bytes.length - 1);
  const part = (status: number, range: string): Answer => ({
    as: 'bytes',
    status,
    torn,
    headers: { ...headers, 'content-range': `bytes ${range}/${bytes.length}` },
    bytes: bytes.subarray(from, to + 1),
  });
  return from > to ? part(416, '*') : part(206, `${from}-${to}`);
}
