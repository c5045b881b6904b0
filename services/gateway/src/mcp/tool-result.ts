import type { CallToolResult } from '@modelcontextprotocol/server';
import type { ToolAnswer } from './mcp-tool.ts';

/** Clients that do not read the structured content get the same JSON as text. */
export function toToolResult({ structured, sentence, attachments = [], isError = false }: ToolAnswer): CallToolResult {
  return {
    content: [
      { type: 'text', text: JSON.stringify(structured) },
      ...(sentence === undefined ? [] : [{ type: 'text' as const, text: sentence }]),
      ...attachments,
    ],
    structuredContent: { ...structured },
    ...(isError && { isError }),
  };
}
