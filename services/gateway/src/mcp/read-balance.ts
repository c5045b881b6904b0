import type { ToolCall, ToolParts } from './mcp-tool.ts';
import { pickAccountCaller } from './read-video.ts';

/** Reads what the account can still spend: its balance less what is held. */
export async function readBalanceLeft(
  { books }: ToolParts,
  call: ToolCall,
): Promise<{ readonly nanos: bigint; readonly currency: string }> {
  const { balanceNanos, heldNanos, currency } = await books.account(pickAccountCaller(call));
  return { nanos: balanceNanos - heldNanos, currency };
}
