import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, test } from '@jest/globals';
import { TaskFailureSchema, TaskState, UsageSchema } from '@reelgate/proto/tasks/v1/task';
import type { Task } from '@reelgate/proto/tasks/v1/task';
import { aCompletedTask, anOrder, aQueuePlace, aTask } from '../testing/a-task.ts';
import { encodeReadVideo, SHOWN_FIELDS as SHOWN_BY_OPENAI } from './dialects/openai/encode.ts';
import type { ShownFields } from './dialects/wire/task-fields.ts';
import { encodeShownVideo, SHOWN_FIELDS as SHOWN_BY_TOOLS } from './mcp/shown-video.ts';

const later = timestampFromMs(Date.UTC(2030, 0, 1));
/** Another value of each field. */
const CHANGED: { readonly [Field in keyof ShownFields]: Task[Field] } = {
  ...{ id: 'task_other', accountId: 'other', order: anOrder({ model: 'Other', sourceTaskId: 'task_2' }) },
  ...{ state: TaskState.IN_PROGRESS, unrecognisedStatus: 'paused', progress: 42, seconds: 9, label: 'other' },
  ...{ createdAt: later, updatedAt: later, completedAt: later, expiresAt: later, pollAfterMs: 99_000n },
  ...{ result: undefined, queue: aQueuePlace(), usage: create(UsageSchema, { totalTokens: 7n }) },
  failure: create(TaskFailureSchema, { code: 'other', message: 'other words' }),
};
const TASKS: readonly Task[] = [
  aTask(),
  aTask({ state: TaskState.IN_PROGRESS }),
  aTask({ state: TaskState.FAILED, failure: { code: 'failed', message: 'it broke' } }),
  aCompletedTask(),
];
const links = { toVideoUrl: () => undefined, toPublicPath: (path: string) => path } as never;

test.each<[string, ShownFields, (task: Task) => object]>([
  ['a video of OpenAI', SHOWN_BY_OPENAI, (task) => encodeReadVideo(task, links)],
  ['a video of the tools', SHOWN_BY_TOOLS, (task) => encodeShownVideo(task, undefined)],
])('%s shows exactly the fields of a task that it says', (_name, shown, encode) => {
  const fields = Object.keys(CHANGED) as (keyof ShownFields)[];
  const isShown = (field: keyof ShownFields): boolean =>
    TASKS.some((task) => {
      const [one, other] = [encode(task), encode({ ...task, [field]: CHANGED[field] })].map((each) =>
        JSON.stringify(each),
      );
      return one !== other;
    });

  expect(Object.fromEntries(fields.map((field) => [field, isShown(field)]))).toEqual(shown);
});
