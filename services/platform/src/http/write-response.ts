import type { ServerResponse } from 'node:http';
import type { Clock } from '../clock.ts';

/** The time limit of one chunk. A slower client can resume with a range. A vanished client is dropped. */
const PIECE_MS = 300_000;

export interface WriteOptions {
  readonly clock: Clock;
  /** The time limit for producing and sending one chunk. */
  readonly pieceMs?: number;
}

/** The response was closed before its end: the client has gone. */
export class AnswerClosed extends Error {
  override readonly name = 'AnswerClosed';
}

/**
 * Writes chunks into a response, each after the one before was sent, and ends it. The buffer of a chunk can be reused
 * for the next one. Rejects with AnswerClosed when the client has gone, or has not taken a chunk within the limit. The
 * timeout of a socket starts again with every byte, so it would never end a client that takes one byte now and then.
 */
export async function writeThrough(
  pieces: AsyncIterable<Uint8Array>,
  response: ServerResponse,
  { clock, pieceMs = PIECE_MS }: WriteOptions,
): Promise<void> {
  const { promise: closed, reject } = Promise.withResolvers<never>();
  closed.catch(() => undefined);
  const leave = (): void => reject(new AnswerClosed('the response was closed'));
  response.once('close', leave);
  const deadline = watchPieces(clock, pieceMs, () => response.destroy());
  const iterator = pieces[Symbol.asyncIterator]();
  try {
    if (response.destroyed) leave();
    for (;;) {
      const next: IteratorResult<Uint8Array, unknown> = await Promise.race([closed, iterator.next()]);
      if (next.done === true) break;
      await Promise.race([closed, writePiece(response, next.value)]);
      deadline.next();
    }
    response.off('close', leave).end();
  } catch (error) {
    // not awaited, because the next chunk may never come
    iterator.return?.().catch(() => undefined);
    throw error;
  } finally {
    deadline.stop();
    response.off('close', leave);
  }
}

function writePiece(response: ServerResponse, piece: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    response.write(piece, (error) => {
      if (error === null || error === undefined) resolve();
      else reject(new AnswerClosed('the response was closed', { cause: error }));
    });
  });
}

/** Uses one timer for all chunks of a response. A timer for each would cost more than the chunk. */
function watchPieces(clock: Clock, pieceMs: number, late: () => void): { next(): void; stop(): void } {
  const over = new AbortController();
  let since = clock.now();
  const watch = async (): Promise<void> => {
    for (let left = pieceMs; left > 0; left = since + pieceMs - clock.now()) {
      await clock.sleep(left, over.signal);
      if (over.signal.aborted) return;
    }
    late();
  };
  void watch();
  return {
    next: () => {
      since = clock.now();
    },
    stop: () => over.abort(),
  };
}
