import type { AccountCaller } from '../clients/caller.ts';
import { isFinal } from '../clients/tasks-client.ts';
import type { Task, TaskRef } from '../clients/tasks-client.ts';
import { PLAUSIBLE_ID } from '../http/routes/task-id.ts';
import type { RequestCall, ToolParts, ToolCall } from './mcp-tool.ts';
import { refuse } from '../refusals.ts';
import { isProblem } from '@reelgate/platform/problem';
import { cancelTask } from '../operations/end-task.ts';

export const idSchema = { type: 'string', maxLength: 64, description: 'The id of a video.' } as const;

/** The task of the caller's account with this id. Refuses an impossible id without a call. */
export function toVideoRef(id: string, call: RequestCall): TaskRef {
  if (!PLAUSIBLE_ID.test(id)) throw refuse('task_not_found', { message: 'no such task' });
  call.noteTask(id);
  return { accountId: call.principal.accountId, taskId: id };
}

/** Reads a task of the caller's account; a task of another account is unknown. */
export async function readVideo({ reader }: ToolParts, id: string, call: RequestCall): Promise<Task> {
  return reader.read(toVideoRef(id, call), call.requestId, call.span);
}

export function pickAccountCaller({ principal: { accountId }, requestId, span }: RequestCall): AccountCaller {
  return { accountId, requestId, span };
}

/** Cancels a video that waits, or reads one that has ended. Refuses one that runs and cannot be cancelled. */
export async function cancelVideo(
  parts: ToolParts,
  id: string,
  call: ToolCall,
): Promise<{ readonly task: Task; readonly isCancelled: boolean }> {
  const { requestId, span } = call;
  try {
    return { task: await cancelTask(parts, toVideoRef(id, call), { requestId, span }), isCancelled: true };
  } catch (error) {
    if (!isProblem(error, 'task_not_cancellable')) throw error;
    const task = await readVideo(parts, id, call);
    if (!isFinal(task)) throw error;
    return { task, isCancelled: false };
  }
}

/** Reads what the account can still spend: its balance less what is held. */
export async function readBalanceLeft(
  { books }: ToolParts,
  call: ToolCall,
): Promise<{ readonly nanos: bigint; readonly currency: string }> {
  const { balanceNanos, heldNanos, currency } = await books.account(pickAccountCaller(call));
  return { nanos: balanceNanos - heldNanos, currency };
}
