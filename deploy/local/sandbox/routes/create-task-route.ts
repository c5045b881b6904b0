import { checkCallbackUrl } from '../callbacks.ts';
import { pause } from '../sandbox-clock.ts';
import { acceptOrder } from '../creation/accept-order.ts';
import { orderFromDraft, sourceTask } from '../creation/order-from-draft.ts';
import { refusedOnceMax } from '../limits.ts';
import type { Kind } from '../vendor-order.ts';
import { invalidParams, refusalBy } from '../vendor-refusal.ts';
import type { SandboxParts } from '../sandbox-parts.ts';
import type { CreateAnswer } from '../steering/script.ts';
import { steer } from '../steering/steering-words.ts';
import { readCreate } from '../validation/read-create.ts';
import type { RouteHandler, Answer } from './route-handler.ts';
import { json } from './route-handler.ts';

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
