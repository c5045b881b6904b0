import type { McpTool, ToolParts } from '../mcp-tool.ts';
import { usageGet } from './usage-get.ts';
import { videoCancel } from './video-cancel.ts';
import { videoCreate } from './video-create.ts';
import { videoGet } from './video-get.ts';
import { videoList } from './video-list.ts';
import { videoModels } from './video-models.ts';
import { videoQuote } from './video-quote.ts';
import { videoWait } from './video-wait.ts';

/** Every tool, in the order in which clients list them. */
export function listTools(parts: ToolParts): readonly McpTool[] {
  return [videoModels, videoQuote, videoCreate, videoWait, videoGet, videoList, videoCancel, usageGet].map((build) =>
    build(parts),
  );
}
