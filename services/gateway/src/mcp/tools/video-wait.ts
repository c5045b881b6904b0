import { isRecent } from '@reelgate/platform/clock';
import { isFinal } from '../../clients/tasks-client.ts';
import { awaitChange } from '../../operations/await-change.ts';
import { describeVideo, shownVideoSchema } from '../describe-video.ts';
import { READ_ONLY, buildTool, buildObjectSchema } from '../mcp-tool.ts';
import type { McpTool, RequestCall, ShowProgress, ToolParts } from '../mcp-tool.ts';
import { idSchema, readVideo, toVideoRef } from '../read-video.ts';

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
