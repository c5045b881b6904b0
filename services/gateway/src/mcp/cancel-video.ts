import { isProblem } from '@reelgate/platform/problem';
import { isFinal } from '../clients/tasks-client.ts';
import type { Task } from '../clients/tasks-client.ts';
import { cancelTask } from '../operations/end-task.ts';
import type { ToolCall, ToolParts } from './mcp-tool.ts';
import { readVideo, toVideoRef } from './read-video.ts';

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
