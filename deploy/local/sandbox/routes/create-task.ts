import { checkCallbackUrl } from '../callbacks/challenge.ts';
import { pause } from '../clock.ts';
import { acceptOrder } from '../creation/accept-order.ts';
import { earlyAnswer } from '../creation/early-answer.ts';
import { orderFromDraft } from '../creation/order-from-draft.ts';
import { sourceTask } from '../creation/source-task.ts';
import { json } from '../http/answer.ts';
import type { Kind } from '../order.ts';
import { invalidParams } from '../refusal.ts';
import { steer } from '../steering/steer.ts';
import { readCreate } from '../validation/create-body.ts';
import type { RouteHandler } from './route.ts';

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
