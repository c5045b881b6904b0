import { create } from '@bufbuild/protobuf';
import type { Message, MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { WholeMessage } from '@reelgate/platform/rpc/service';
import { OrderSchema, TaskKind } from '@reelgate/proto/tasks/v1/order';
import type { Order } from '@reelgate/proto/tasks/v1/order';
import { QueueClass, QueuePlaceSchema, QueueWait } from '@reelgate/proto/tasks/v1/queue';
import type { QueuePlace } from '@reelgate/proto/tasks/v1/queue';
import { TaskFailureSchema, TaskResultSchema, TaskSchema, TaskState, UsageSchema } from '@reelgate/proto/tasks/v1/task';
import type { Task, TaskResult, Usage } from '@reelgate/proto/tasks/v1/task';

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

/** A task right after its create. A new field of the message needs a value here, which shows in the golden files. */
export function aTask(over: TaskInit = {}): Task {
  const queued = {
    id: TASK_ID,
    accountId: 'demo',
    order: anOrder(),
    state: TaskState.QUEUED,
    unrecognisedStatus: '',
    progress: 0,
    createdAt: timestampFromMs(CREATED_MS),
    updatedAt: timestampFromMs(CREATED_MS),
    seconds: 5,
    label: '',
    pollAfterMs: 3000n,
  } satisfies WholeMessage<typeof TaskSchema>;
  return create(TaskSchema, { ...queued, ...over });
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

type Whole<M extends Message> = Required<Omit<M, keyof Message>>;

/** The place of a task that waits since it was created. */
export function aQueuePlace(): QueuePlace {
  const at = (seconds: number): Timestamp => timestampFromMs(CREATED_MS + seconds * 1000);
  const whole: Whole<QueuePlace> = {
    position: 3,
    estimatedStartAt: at(240),
    since: at(0),
    startBy: at(3600),
    class: QueueClass.BATCH,
    waitsFor: QueueWait.OWN_LIMIT,
  };
  return create(QueuePlaceSchema, whole);
}

/**
 * A completed task with every field but the status of an upstream, also with those that no task has together. A field
 * without a value does not compile.
 */
export function aWholeTask(): Task {
  const completed = aCompletedTask();
  const at = timestampFromMs(CREATED_MS);
  const whole: Whole<Task> = {
    ...completed,
    createdAt: completed.createdAt ?? at,
    updatedAt: completed.updatedAt ?? at,
    completedAt: completed.completedAt ?? at,
    expiresAt: completed.expiresAt ?? at,
    order: create(OrderSchema, wholeOrder),
    result: create(TaskResultSchema, wholeResult),
    failure: create(TaskFailureSchema, { code: '1026', message: 'video description contains sensitive content' }),
    usage: create(UsageSchema, wholeUsage),
    queue: aQueuePlace(),
  };
  return create(TaskSchema, whole);
}

const wholeOrder = {
  kind: TaskKind.GENERATION,
  model: 'Alpha-H3',
  content: anOrder().content,
  duration: 5,
  resolution: '768P',
  ratio: '16:9',
  sourceTaskId: 'task_source',
  aigcWatermark: true,
  callbackUrl: 'https://studio.example/hook',
  size: '1344x768',
  extraJson: '{"seed":7}',
  optionalExtra: ['seed', 'fps'],
} satisfies Whole<Order>;

const wholeResult = {
  object: 'obj_0123456789',
  prompt: 'integrated_multimodal_description: …',
  bytes: 209_497n,
  mediaType: 'video/mp4',
  width: 1344,
  height: 768,
  durationMs: 5167n,
  frameRate: 24,
} satisfies Whole<TaskResult>;

const wholeUsage = {
  totalSeconds: 5n,
  inputSeconds: 2n,
  outputSeconds: 3n,
  inputImageCount: 1n,
  inputAudioSeconds: 4n,
  totalTokens: 97_645n,
  promptTokens: 7n,
  completionTokens: 97_638n,
} satisfies Whole<Usage>;
