import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Clock } from '@reelgate/platform/clock';
import { NOT_AWAITED } from '@reelgate/platform/clock';

/** A client that does not read for this long is cut off. */
const STALL_MS_MAX = 60_000;

export interface SendPacedOptions {
  /** It goes out with the first block. */
  readonly head: OutgoingHttpHeaders;
  readonly clock: Clock;
  /** Aborted when the answer must end. */
  readonly over: AbortSignal;
}

/**
 * Sends the blocks of an answer as fast as the client reads them. The next block is created once the client has read
 * the one before, so a slow client does not use memory.
 */
export async function sendPaced(
  response: ServerResponse,
  blocks: AsyncIterable<string>,
  { head, clock, over }: SendPacedOptions,
): Promise<void> {
  for await (const block of blocks) {
    if (response.destroyed) return;
    if (!response.headersSent) response.writeHead(200, head);
    const isTaken = response.write(block) || (await waitForDrain(response, clock, over));
    if (over.aborted) break;
    if (!isTaken) {
      response.destroy();
      return;
    }
  }
  if (response.headersSent) response.end();
}

/** Resolves to true when the client reads on, and to false if it does not read for too long or the answer is over. */
async function waitForDrain(response: ServerResponse, clock: Clock, over: AbortSignal): Promise<boolean> {
  const settled = new AbortController();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const onDrain = (): void => resolve(true);
  const onEnd = (): void => resolve(false);
  response.once('drain', onDrain);
  over.addEventListener('abort', onEnd, { once: true });
  void clock.sleep(STALL_MS_MAX, settled.signal).then(onEnd);
  try {
    return await promise;
  } finally {
    settled.abort(NOT_AWAITED);
    response.off('drain', onDrain);
    over.removeEventListener('abort', onEnd);
  }
}
