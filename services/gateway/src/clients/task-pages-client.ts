import type { Message, MessageInitShape } from '@bufbuild/protobuf';
import type {
  GetTaskTimelineResponse,
  ListTasksRequestSchema,
  ListTasksResponse,
} from '@reelgate/proto/tasks/v1/task_service';
import { withDeadline } from './caller.ts';
import type { AccountCaller } from './caller.ts';
import type { TasksClient } from './tasks-client.ts';

const DEADLINE_MS = 15_000;

/** A list of an account's tasks, newest first. A missing filter selects all. */
export type TaskQuestion = Omit<
  Exclude<MessageInitShape<typeof ListTasksRequestSchema>, Message>,
  'accountId' | 'inSteps'
>;

/** Tasks as pages read them. */
export interface TaskPages {
  /** Examines a bounded number of tasks, so the answer can end early. */
  list(caller: AccountCaller, question: TaskQuestion): Promise<ListTasksResponse>;
  timeline(caller: AccountCaller, taskId: string): Promise<GetTaskTimelineResponse>;
}

export function taskPages(rpc: TasksClient): TaskPages {
  return {
    list: ({ accountId, ...call }, question) =>
      rpc.listTasks({ ...question, accountId, inSteps: true }, withDeadline(call, DEADLINE_MS)),
    timeline: ({ accountId, ...call }, taskId) =>
      rpc.getTaskTimeline({ accountId, taskId }, withDeadline(call, DEADLINE_MS)),
  };
}
