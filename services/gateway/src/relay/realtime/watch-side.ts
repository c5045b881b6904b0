import type { WebSocket } from 'ws';
import type { Clock } from '@reelgate/platform/clock';

export interface WatchOptions {
  readonly clock: Clock;
  readonly pingMs: number;
  /** Ends the watch. */
  readonly over: AbortSignal;
}

/** Pings a side at intervals, and cuts its connection if nothing arrives between two pings. */
export async function watchSide(side: WebSocket, { clock, pingMs, over }: WatchOptions): Promise<void> {
  let heard = true;
  const note = (): void => {
    heard = true;
  };
  side.on('pong', note).on('ping', note).on('message', note);
  while (!over.aborted) {
    // a paused side receives nothing
    if (!heard && !side.isPaused) {
      side.terminate();
      return;
    }
    heard = false;
    if (side.readyState === side.OPEN) side.ping();
    await clock.sleep(pingMs, over);
  }
}
