import { READ_ONLY, buildTool, buildObjectSchema } from '../mcp-tool.ts';
import type { McpTool, ToolParts } from '../mcp-tool.ts';
import { idSchema, pickAccountCaller } from '../read-video.ts';
import { encodeShownVideo, listedVideoSchema } from '../shown-video.ts';

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
