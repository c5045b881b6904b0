import type { Client } from '@reelgate/platform/rpc/service';
import type { EveryField } from '@reelgate/platform/rpc/whole-message';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import type { Task } from '@reelgate/proto/tasks/v1/task';
import type { Job } from '@reelgate/proto/tasks/v1/job';
import type { JobService } from '@reelgate/proto/tasks/v1/job_service';
import type {
  CreateTaskRequest,
  TaskService,
  GetTaskTimelineResponse,
  ListTasksRequestSchema,
  ListTasksResponse,
} from '@reelgate/proto/tasks/v1/task_service';
import type { Message, MessageInitShape } from '@bufbuild/protobuf';
import { withDeadline } from './caller.ts';
import type { AccountCaller } from './caller.ts';
import { create } from '@bufbuild/protobuf';
import { durationFromMs, durationMs, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { QueuePreferenceSchema } from '@reelgate/proto/tasks/v1/queue';
import type { QueuePreference } from '@reelgate/proto/tasks/v1/queue';
import { WAIT_CLASS_WORDS, WAIT_MODE_WORDS, WIRE_WAIT_CLASSES, WIRE_WAIT_MODES } from './task-words.ts';
import type { WaitClass, WaitMode } from './task-words.ts';
import { requireValue, toMs } from './wire-values.ts';

export type TasksClient = Client<typeof TaskService>;
export type JobsClient = Client<typeof JobService>;
export type { Job } from '@reelgate/proto/tasks/v1/job';
export type { Order } from '@reelgate/proto/tasks/v1/order';
export type { Task } from '@reelgate/proto/tasks/v1/task';
export type { CreateTaskRequest } from '@reelgate/proto/tasks/v1/task_service';

/** The request of a create, which leaves no field out. */
export type WholeCreateRequest = EveryField<CreateTaskRequest>;

/** A task of one account: the key of its cache entry and of its changes. */
export interface TaskRef {
  readonly accountId: string;
  readonly taskId: string;
}

/** A job of an account, and the request that reads it. */
export interface JobRead extends AccountCaller {
  readonly jobId: string;
}

export async function readJob(jobs: JobsClient, { accountId, jobId, ...caller }: JobRead): Promise<Job> {
  return requireValue((await jobs.getJob({ accountId, jobId }, withDeadline(caller))).job);
}

/** Completed and failed tasks and jobs never change again. */
export function isFinal({ state }: { readonly state: TaskState }): boolean {
  return state === TaskState.COMPLETED || state === TaskState.FAILED;
}

/** Returns a key of the state as clients see it. A waiting client waits for a change of this key. */
export function toStateKey({ state, unrecognisedStatus }: Task): string {
  return `${state} ${unrecognisedStatus}`;
}

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

/** The preference of a create for its wait while no channel takes it. The token decides over missing members. */
export interface WaitPreference {
  readonly mode?: WaitMode;
  readonly class?: WaitClass;
  /** The task fails without a turn after this time. */
  readonly startWithinS?: number;
  /** Milliseconds since 1970. */
  readonly notBefore?: number;
}

export function toWirePreference({ mode, class: wanted, startWithinS, notBefore }: WaitPreference): QueuePreference {
  return create(QueuePreferenceSchema, {
    ...(mode && { mode: WIRE_WAIT_MODES[mode] }),
    ...(wanted && { class: WIRE_WAIT_CLASSES[wanted] }),
    ...(startWithinS !== undefined && { startWithin: durationFromMs(startWithinS * 1000) }),
    ...(notBefore !== undefined && { notBefore: timestampFromMs(notBefore) }),
  });
}

export function fromWirePreference(wire: QueuePreference): WaitPreference {
  const mode = WAIT_MODE_WORDS[wire.mode];
  const applied = WAIT_CLASS_WORDS[wire.class];
  const notBefore = toMs(wire.notBefore);
  return {
    ...(mode && { mode }),
    ...(applied && { class: applied }),
    ...(wire.startWithin && { startWithinS: Math.ceil(durationMs(wire.startWithin) / 1000) }),
    ...(notBefore !== undefined && { notBefore }),
  };
}
