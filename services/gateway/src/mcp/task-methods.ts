import { isProblem } from '@reelgate/platform/problem';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { isFinal } from '../clients/tasks-client.ts';
import type { Task } from '../clients/tasks-client.ts';
import { cancelVideo, readVideo } from './read-video.ts';
import { describeVideo, toIsoTime } from './shown-video.ts';
import { toToolResult } from './mcp-tool.ts';
import type { ToolCall, ToolParts } from './mcp-tool.ts';
import { isFailed, toStateName } from '../dialects/wire/task-fields.ts';

/** The extension with which a client follows long calls by itself. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

const POLL_INTERVAL_MS = 5000;
const CANCELLED = 'cancelled';

/**
 * A method of the extension: it returns its result, or refuses with a Problem. Nothing is stored for it: the id of its
 * task is the id of the video.
 */
export type TaskMethod = (parts: ToolParts, taskId: string, call: ToolCall) => Promise<Record<string, unknown>>;

export const taskMethods: Readonly<Record<string, TaskMethod>> = {
  'tasks/get': async (parts, taskId, call) => {
    const task = await readVideo(parts, taskId, call);
    const end = isFinal(task) && !isCancelled(task) ? { result: await buildEndResult(parts, task, call) } : {};
    return { resultType: 'complete', ...encodeTaskHandle(task), ...end };
  },
  // a task never asks for input, so the update is ignored
  'tasks/update': async (parts, taskId, call) => {
    await readVideo(parts, taskId, call);
    return { resultType: 'complete' };
  },
  'tasks/cancel': async (parts, taskId, call) => {
    try {
      await cancelVideo(parts, taskId, call);
    } catch (error) {
      // a cancel is only a request: the task goes on, and is paid
      if (!isProblem(error, 'task_not_cancellable')) throw error;
    }
    return { resultType: 'complete' };
  },
};

/** The answer to a call that goes on as a task. The video is stored by then. */
export async function startTask(parts: ToolParts, taskId: string, call: ToolCall): Promise<Record<string, unknown>> {
  return { resultType: 'task', ...encodeTaskHandle(await readVideo(parts, taskId, call)) };
}

/** A failed video is a result with an error: the call itself did not fail. */
async function buildEndResult(parts: ToolParts, task: Task, call: ToolCall): Promise<object> {
  const result = toToolResult(await describeVideo(parts, task, call));
  return { resultType: 'complete', ...result, isError: isFailed(task) };
}

function encodeTaskHandle(task: Task): Record<string, unknown> {
  const { id, createdAt, updatedAt, expiresAt } = task;
  return {
    taskId: id,
    status: isCancelled(task) ? CANCELLED : isFinal(task) ? 'completed' : 'working',
    statusMessage: isFinal(task) ? toStateName(task) : `${toStateName(task)}, ${task.progress} %`,
    createdAt: toIsoTime(createdAt),
    lastUpdatedAt: toIsoTime(updatedAt ?? createdAt),
    ttlMs: createdAt === undefined || expiresAt === undefined ? null : timestampMs(expiresAt) - timestampMs(createdAt),
    pollIntervalMs: POLL_INTERVAL_MS,
  };
}

function isCancelled(task: Task): boolean {
  return isFailed(task) && task.failure?.code === CANCELLED;
}
