import type { RawData, WebSocket } from 'ws';
import type { Clock } from '@reelgate/platform/clock';

/** The maximum number of bytes that wait for one side. Beyond it the other side is not read. */
const WAITING_BYTES_HIGH = 1024 * 1024;
const WAITING_BYTES_LOW = 256 * 1024;

/** Returns the message to pass on, or undefined to drop it. */
export type Pass = (message: Buffer, isBinary: boolean) => Buffer | undefined;

/** Passes each message of one side on to the other, as fast as the other side takes them. */
export function pump(from: WebSocket, to: WebSocket, pass: Pass): void {
  const resume = (): void => {
    if (from.isPaused && to.bufferedAmount <= WAITING_BYTES_LOW) from.resume();
  };
  from.on('message', (data: RawData, isBinary) => {
    const message = pass(data as Buffer, isBinary);
    if (message === undefined || to.readyState !== to.OPEN) return;
    to.send(message, { binary: isBinary }, resume);
    if (to.bufferedAmount > WAITING_BYTES_HIGH) from.pause();
  });
  // a paused side would not receive the close frame
  to.once('close', () => {
    from.resume();
  });
}

export interface WatchOptions {
  readonly clock: Clock;
  readonly pingMs: number;
  /** Ends the watch. */
  readonly over: AbortSignal;
}

/** Pings a side at intervals, and cuts its connection if no byte arrives between two pings. */
export async function watchSide(side: WebSocket, { clock, pingMs, over }: WatchOptions): Promise<void> {
  let hasReceived = true;
  const note = (): void => {
    hasReceived = true;
  };
  side.on('pong', note).on('ping', note).on('message', note);
  while (!over.aborted) {
    // a paused side receives no messages
    if (!hasReceived && !side.isPaused) {
      side.terminate();
      return;
    }
    hasReceived = false;
    if (side.readyState === side.OPEN) side.ping();
    await clock.sleep(pingMs, over);
  }
}
