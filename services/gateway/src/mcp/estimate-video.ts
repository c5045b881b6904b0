import type { EstimateOrderResponse } from '@reelgate/proto/tasks/v1/task_service';
import type { DecodedOrder } from '../dialects/dialect.ts';
import { inClientTerms, toPendingOrder } from '../operations/submit-order.ts';
import type { ToolCall, ToolParts } from './mcp-tool.ts';

const DEADLINE_MS = 15_000;

/** The price of an order. */
export interface VideoEstimate extends EstimateOrderResponse {
  /** The most that the order may hold, in billionths. */
  readonly nanos: bigint;
}

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
