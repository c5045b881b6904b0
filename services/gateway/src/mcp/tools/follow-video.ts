import { isRecent } from '@reelgate/platform/clock';
import { isFinal } from '../../clients/tasks-client.ts';
import { awaitChange } from '../../operations/await-change.ts';
import {
  describeVideo,
  shownVideoSchema,
  encodeShownVideo,
  listedVideoSchema,
  moneySchemas,
  statusSchema,
} from '../shown-video.ts';
import { READ_ONLY, buildTool, buildObjectSchema } from '../mcp-tool.ts';
import type { McpTool, RequestCall, ShowProgress, ToolParts } from '../mcp-tool.ts';
import { idSchema, readVideo, toVideoRef, pickAccountCaller, cancelVideo } from '../read-video.ts';
import { formatDecimal } from '../../domain/decimal.ts';
import { toStateName } from '../../dialects/wire/task-fields.ts';

/** Clients give up a call after a minute, and the hastiest of them after five seconds. */
const SECONDS = { min: 1, max: 50, fallback: 4 };
/** A client that asks for progress sees that its call is alive. */
const WATCHED_FALLBACK_SECONDS = 25;
/** Between two looks at the progress of a task, for a client that asks for it. */
const PROGRESS_MS = 5000;

/** Waits until a video is done or the time is over. Without a permit to wait it answers at once. */
export function videoWait(parts: ToolParts): McpTool {
  return buildTool({
    name: 'video_wait',
    title: 'Wait for a video',
    description:
      'Waits some seconds until a video is done, and shows it as video_get does. ' +
      'Repeat it while done is false. That is no error: a video takes minutes.',
    input: buildObjectSchema(
      {
        id: idSchema,
        seconds: {
          type: 'integer',
          minimum: SECONDS.min,
          maximum: SECONDS.max,
          description:
            `The longest wait; default: ${SECONDS.fallback}, or ${WATCHED_FALLBACK_SECONDS} for a client that asks for ` +
            'progress. Clients may give up a longer call.',
        },
      },
      ['id'],
    ),
    output: shownVideoSchema,
    hints: READ_ONLY,
    wait: async ({ id, seconds: given }, call, showProgress) => {
      const seconds = given ?? (showProgress === undefined ? SECONDS.fallback : WATCHED_FALLBACK_SECONDS);
      if (!parts.waits.tryAcquire()) return;
      try {
        await waitForEnd(parts, { id, ms: seconds * 1000, call, showProgress });
      } finally {
        parts.waits.release();
      }
    },
    run: async ({ id }, call) => describeVideo(parts, await readVideo(parts, id, call), call),
  });
}

interface VideoWait {
  readonly id: string;
  readonly ms: number;
  readonly call: RequestCall;
  readonly showProgress: ShowProgress | undefined;
}

/** A change that is not the end, such as the start of the work, does not end the wait. */
async function waitForEnd(parts: ToolParts, { id, ms, call, showProgress }: VideoWait): Promise<void> {
  const { requestId, span, gone } = call;
  const from = parts.clock.now();
  let task = await readVideo(parts, id, call);
  while (!isFinal(task) && isRecent(parts.clock, from, ms) && !gone.aborted) {
    showProgress?.(task.progress);
    const left = from + ms - parts.clock.now();
    const step = showProgress === undefined ? left : Math.min(left, PROGRESS_MS);
    task = await awaitChange(parts, { task: toVideoRef(id, call), ms: step, requestId, span, gone });
  }
}

/** Shows one video as it is now. */
export function videoGet(parts: ToolParts): McpTool {
  return buildTool({
    name: 'video_get',
    title: 'Read a video',
    description:
      'Reads one video: its status, what it cost, and once it is completed a new link that works for one hour.',
    input: buildObjectSchema(
      { id: idSchema, thumbnail: { type: 'boolean', description: 'Adds a small picture of the first frame.' } },
      ['id'],
    ),
    output: shownVideoSchema,
    hints: READ_ONLY,
    run: async ({ id, thumbnail = false }, call) =>
      describeVideo(parts, await readVideo(parts, id, call), call, thumbnail),
  });
}

const DEADLINE_MS = 15_000;
/** A longer list fills the context of a model. */
const LIMIT = { min: 1, max: 20, fallback: 10 };

/** Lists the videos of the account, newest first and without links. */
export function videoList(parts: ToolParts): McpTool {
  return buildTool({
    name: 'video_list',
    title: 'List videos',
    description: 'Lists the videos of the account, newest first, without links. video_get has the link of one.',
    input: buildObjectSchema({
      limit: { type: 'integer', minimum: LIMIT.min, maximum: LIMIT.max, default: LIMIT.fallback },
      after: { ...idSchema, description: 'next of the page before.' },
    }),
    output: buildObjectSchema(
      {
        videos: { type: 'array', items: listedVideoSchema },
        next: { type: 'string', description: 'Absent on the last page.' },
      },
      ['videos'],
    ),
    hints: READ_ONLY,
    run: async ({ limit = LIMIT.fallback, after = '' }, call) => {
      const { accountId } = call.principal;
      const { tasks, hasMore } = await parts.tasks.listTasks(
        { accountId, limit, after },
        { timeoutMs: DEADLINE_MS, requestId: call.requestId, span: call.span },
      );
      const charges = await parts.charges.readAll(tasks, pickAccountCaller(call));
      const next = hasMore ? tasks.at(-1)?.id : undefined;
      return {
        structured: {
          videos: tasks.map((task) => encodeShownVideo(task, charges.get(task.id))),
          ...(next === undefined ? {} : { next }),
        },
      };
    },
  });
}

/** Cancels a video that waits, and shows an ended video as it is. */
export function videoCancel(parts: ToolParts): McpTool {
  return buildTool({
    name: 'video_cancel',
    title: 'Cancel a video',
    description: 'Cancels a video that is still queued and returns its held amount. A video that has ended stays.',
    input: buildObjectSchema({ id: idSchema }, ['id']),
    output: buildObjectSchema(
      {
        id: { type: 'string' },
        status: statusSchema,
        returned: { ...moneySchemas.amount, description: 'The held amount that is not charged.' },
        currency: moneySchemas.currency,
      },
      ['id', 'status'],
    ),
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    run: async ({ id }, call) => {
      const { task, isCancelled } = await cancelVideo(parts, id, call);
      const { charge } = await parts.charges.read(task, pickAccountCaller(call));
      const money = charge && {
        returned: formatDecimal(charge.state === 'charged' ? 0n : charge.amountNanos),
        currency: charge.currency,
      };
      return {
        structured: { id, status: toStateName(task), ...money },
        sentence: isCancelled ? 'The video is cancelled.' : 'The video had ended before.',
      };
    },
  });
}
