import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { OrderSchema, TaskKind } from '@reelgate/proto/tasks/v1/order';
import type { Order } from '@reelgate/proto/tasks/v1/order';
import { TaskSchema, TaskState } from '@reelgate/proto/tasks/v1/task';
import type { Task } from '@reelgate/proto/tasks/v1/task';

/** 2026-01-01T00:00:00Z */
export const CREATED_MS = Date.UTC(2026, 0, 1);
const DAY_MS = 24 * 3600 * 1000;

type OrderInit = Exclude<MessageInitShape<typeof OrderSchema>, Order>;
type TaskInit = Exclude<MessageInitShape<typeof TaskSchema>, Task>;

export const TASK_ID = 'task_0123456789abcdefghjkmnpqrs';

export function anOrder(over: OrderInit = {}): Order {
  return create(OrderSchema, {
    kind: TaskKind.GENERATION,
    model: 'Alpha-H3',
    content: [{ item: { case: 'text', value: 'a red boat' } }],
    duration: 5,
    resolution: '768P',
    ratio: '16:9',
    ...over,
  });
}

/** A task right after its create. */
export function aTask(over: TaskInit = {}): Task {
  return create(TaskSchema, {
    id: TASK_ID,
    accountId: 'demo',
    order: anOrder(),
    state: TaskState.QUEUED,
    createdAt: timestampFromMs(CREATED_MS),
    updatedAt: timestampFromMs(CREATED_MS),
    seconds: 5,
    pollAfterMs: 3000n,
    ...over,
  });
}

export function aCompletedTask(over: TaskInit = {}): Task {
  const endedMs = CREATED_MS + 90_000;
  return aTask({
    state: TaskState.COMPLETED,
    progress: 100,
    updatedAt: timestampFromMs(endedMs),
    completedAt: timestampFromMs(endedMs),
    expiresAt: timestampFromMs(endedMs + 7 * DAY_MS),
    result: {
      object: 'obj_0123456789',
      bytes: 209_497n,
      mediaType: 'video/mp4',
      width: 1344,
      height: 768,
      durationMs: 5167n,
      frameRate: 24,
    },
    usage: {
      totalSeconds: 5n,
      inputSeconds: 0n,
      outputSeconds: 5n,
      inputImageCount: 0n,
      totalTokens: 97_645n,
      promptTokens: 0n,
      completionTokens: 97_645n,
    },
    pollAfterMs: 0n,
    ...over,
  });
}
