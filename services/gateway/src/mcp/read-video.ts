import type { AccountCaller } from '../clients/caller.ts';
import type { Task, TaskRef } from '../clients/tasks-client.ts';
import { PLAUSIBLE_ID } from '../http/routes/task-id.ts';
import type { RequestCall, ToolParts } from './mcp-tool.ts';
import { refuse } from '../refusals.ts';

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
