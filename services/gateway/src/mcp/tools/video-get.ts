import { describeVideo, shownVideoSchema } from '../describe-video.ts';
import { READ_ONLY, buildTool, buildObjectSchema } from '../mcp-tool.ts';
import type { McpTool, ToolParts } from '../mcp-tool.ts';
import { idSchema, readVideo } from '../read-video.ts';

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
