import type { ToolCall, ToolParts } from './mcp-tool.ts';

/** Reads what the account can still spend: its balance less what is held. */
export async function readBalanceLeft(
  { books }: ToolParts,
  { principal: { accountId }, requestId, span }: ToolCall,
): Promise<{ readonly nanos: bigint; readonly currency: string }> {
  const { balanceNanos, heldNanos, currency } = await books.account({ accountId, requestId, span });
  return { nanos: balanceNanos - heldNanos, currency };
}
