import type { Client } from '@reelgate/platform/rpc/service';
import type { EveryField } from '@reelgate/platform/rpc/whole-message';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import type { Task } from '@reelgate/proto/tasks/v1/task';
import type { Job } from '@reelgate/proto/tasks/v1/job';
import type { JobService } from '@reelgate/proto/tasks/v1/job_service';
import type { CreateTaskRequest, TaskService } from '@reelgate/proto/tasks/v1/task_service';
import { withDeadline } from './caller.ts';
import type { AccountCaller } from './caller.ts';
import { requireValue } from './wire-values.ts';

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
