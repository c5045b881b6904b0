import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import type { TaskResultSchema, TaskSchema, UsageSchema } from '@reelgate/proto/tasks/v1/task';
import type { Result, State, Task, Usage } from '../domain/task.ts';
import { pollAfterMs } from '../operations/reads/read-tasks.ts';
import { toWireOrder } from './mapping-order.ts';

export const STATES: Readonly<Record<State, TaskState>> = {
  queued: TaskState.QUEUED,
  in_progress: TaskState.IN_PROGRESS,
  completed: TaskState.COMPLETED,
  failed: TaskState.FAILED,
};

/** The view of a task for its owner. The message has no field for anything of the upstream. */
export function toWireTask(task: Task, now: number): MessageInitShape<typeof TaskSchema> {
  const { result, failure, usage } = task;
  return {
    id: task.id,
    accountId: task.accountId,
    order: toWireOrder(task.order),
    state: STATES[task.state],
    unrecognisedStatus: task.unrecognised ? (task.upstreamStatus ?? '') : '',
    progress: task.progress,
    seconds: task.seconds,
    createdAt: timestampFromMs(task.createdAt),
    updatedAt: timestampFromMs(task.updatedAt),
    pollAfterMs: BigInt(pollAfterMs(task, now)),
    ...(task.finishedAt === undefined ? {} : { completedAt: timestampFromMs(task.finishedAt) }),
    ...(task.expiresAt === undefined ? {} : { expiresAt: timestampFromMs(task.expiresAt) }),
    ...(result === undefined ? {} : { result: toWireResult(result) }),
    ...(failure === undefined ? {} : { failure }),
    ...(usage === undefined ? {} : { usage: toWireUsage(usage) }),
  };
}

function toWireResult(result: Result): MessageInitShape<typeof TaskResultSchema> {
  const {
    object = '',
    prompt = '',
    mediaType = '',
    bytes = 0,
    durationMs = 0,
    width = 0,
    height = 0,
    frameRate = 0,
  } = result;
  return { object, prompt, mediaType, width, height, frameRate, bytes: BigInt(bytes), durationMs: BigInt(durationMs) };
}

/** The task as it was when it was created, which is the answer of a replayed create. */
export function toWireCreated(task: Task): MessageInitShape<typeof TaskSchema> {
  return toWireTask(
    {
      id: task.id,
      accountId: task.accountId,
      tokenId: task.tokenId,
      order: task.order,
      admission: task.admission,
      seconds: task.seconds,
      createdAt: task.createdAt,
      state: 'queued',
      unrecognised: false,
      progress: 0,
      updatedAt: task.createdAt,
      pollErrors: 0,
      polls: 0,
      pollSpans: 0,
      resumed: false,
    },
    task.createdAt,
  );
}

export function toWireUsage(usage: Usage): MessageInitShape<typeof UsageSchema> {
  return Object.fromEntries(
    Object.entries(usage).flatMap(([name, value]: [string, number | undefined]) =>
      value === undefined ? [] : [[name, BigInt(value)]],
    ),
  );
}
