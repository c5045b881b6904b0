import type { ServerResponse } from 'node:http';
import type { Clock } from '../clock.ts';

/** The time for one piece. A slower client comes back with a range, or has gone silently. */
const PIECE_MS = 300_000;

export interface WriteOptions {
  readonly clock: Clock;
  /** How long a piece may take to be made and to leave. */
  readonly pieceMs?: number;
}

/** The answer was closed before it was whole: whoever asked has gone. */
export class AnswerClosed extends Error {
  override readonly name = 'AnswerClosed';
}

/**
 * Writes pieces into an answer, each once the one before has left, and ends it. A piece may be used again for the next
 * one. Rejects with AnswerClosed when the client has gone, or has not taken a piece in its time: a socket's own timeout
 * begins anew with every byte, so that it never ends a client that takes one now and then.
 */
export async function writeThrough(
  pieces: AsyncIterable<Uint8Array>,
  response: ServerResponse,
  { clock, pieceMs = PIECE_MS }: WriteOptions,
): Promise<void> {
  const { promise: closed, reject } = Promise.withResolvers<never>();
  closed.catch(() => undefined);
  const leave = (): void => {
    reject(new AnswerClosed('the answer was closed'));
  };
  response.once('close', leave);
  const deadline = watchPieces(clock, pieceMs, () => response.destroy());
  const iterator = pieces[Symbol.asyncIterator]();
  try {
    if (response.destroyed) leave();
    for (;;) {
      const next: IteratorResult<Uint8Array, unknown> = await Promise.race([closed, iterator.next()]);
      if (next.done === true) break;
      await Promise.race([closed, written(response, next.value)]);
      deadline.next();
    }
    response.off('close', leave).end();
  } catch (error) {
    // not waited for: a piece may be under way that never comes
    iterator.return?.().catch(() => undefined);
    throw error;
  } finally {
    deadline.stop();
    response.off('close', leave);
  }
}

function written(response: ServerResponse, piece: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    response.write(piece, (error) => {
      if (error === null || error === undefined) resolve();
      else reject(new AnswerClosed('the answer was closed', { cause: error }));
    });
  });
}

/** One timer for all pieces of an answer: a timer for each would cost more than the piece. */
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
    stop: () => {
      over.abort();
    },
  };
}
