import type { Clock } from '@reelgate/platform/clock';
import type { PendingChanges } from './pending-changes.ts';

/** The longest time in which a page gets nothing. */
const HEARTBEAT_MS = 15_000;
/** Changes of this time are told together. */
const APART_MS = 500;
const RETRY_MS = 3000;
/** The id of the first block, with which a browser comes back. */
const OPENED = 'opened';

export interface ChangeBlocks {
  readonly pending: PendingChanges;
  readonly clock: Clock;
  /** True if the page has had a stream before: it may have missed changes. */
  readonly isResumed: boolean;
  readonly over: AbortSignal;
}

/** The text of a stream of changes, block by block. What changes while a block is sent goes into the next one. */
export async function* changeBlocks({ pending, clock, isResumed, over }: ChangeBlocks): AsyncGenerator<string, void> {
  if (isResumed) pending.note('all');
  yield `id: ${OPENED}\nretry: ${RETRY_MS}\n: changes follow\n\n`;
  while (!over.aborted) {
    await pending.wait(HEARTBEAT_MS, over);
    if (over.aborted) return;
    const changes = pending.take();
    yield changes.length === 0 ? ':\n\n' : changes.map((change) => `data: ${JSON.stringify(change)}\n\n`).join('');
    await clock.sleep(APART_MS, over);
  }
}
