import { serviceUnavailable } from '@reelgate/platform/service-unavailable';
import type { BillingDeps } from '../deps.ts';

/**
 * Resolves when the holds of a batch are durable and the batch is marked as confirmed. A batch is confirmed once; a
 * restart forgets the others, and their calls lapse uncharged.
 */
export async function confirmCalls(
  { unwritten, calls }: Pick<BillingDeps, 'unwritten' | 'calls'>,
  batchId: string,
): Promise<void> {
  const durable = unwritten.take(batchId);
  if (durable === undefined) throw serviceUnavailable(new Error('the batch of calls is unknown'));
  await durable;
  await calls.confirm(batchId);
}
