import type { TasksClient } from '../clients/tasks-client.ts';
import type { DecodedOrder } from '../dialects/dialect.ts';
import { inClientTerms, toPendingOrder } from '../operations/submit-order.ts';
import type { ToolCall, ToolParts } from './mcp-tool.ts';

const DEADLINE_MS = 15_000;

/** The price of an order. `nanos` is the most that the order may hold, in billionths. */
export type VideoEstimate = Awaited<ReturnType<TasksClient['estimateOrder']>> & { readonly nanos: bigint };

/** Computes what an order would cost now. */
export async function estimateVideo(
  parts: ToolParts,
  decoded: DecodedOrder,
  { principal: { accountId, tokenId }, requestId, span }: ToolCall,
): Promise<VideoEstimate> {
  const estimate = await inClientTerms(
    decoded,
    parts.tasks.estimateOrder(
      { accountId, tokenId, order: toPendingOrder(decoded) },
      { timeoutMs: DEADLINE_MS, requestId, span },
    ),
  );
  return { ...estimate, nanos: estimate.maxAmountNanos ?? estimate.amountNanos };
}
