import type { ServerResponse } from 'node:http';

/** Nobody takes a byte for so long: whoever asked comes back with a range, or has gone without a word. */
const STALL_MS = 300_000;

/** The answer was closed before it was whole: whoever asked has gone. */
export class AnswerClosed extends Error {
  override readonly name = 'AnswerClosed';
}

/**
 * Writes pieces into an answer, each once the one before has left, and ends it. A piece may be used again for the next one. Rejects with
 * AnswerClosed when nobody is there any more.
 */
export async function writeThrough(pieces: AsyncIterable<Uint8Array>, response: ServerResponse, stallMs = STALL_MS): Promise<void> {
  const { promise: closed, reject } = Promise.withResolvers<never>();
  closed.catch(() => undefined);
  const leave = (): void => {
    reject(new AnswerClosed('the answer was closed'));
  };
  response.once('close', leave);
  // the system's own clock of a connection: it stands still only while nothing moves
  response.setTimeout(stallMs, () => response.destroy());
  const iterator = pieces[Symbol.asyncIterator]();
  try {
    if (response.destroyed) leave();
    for (;;) {
      const next: IteratorResult<Uint8Array, unknown> = await Promise.race([closed, iterator.next()]);
      if (next.done === true) break;
      await Promise.race([closed, written(response, next.value)]);
    }
    response.off('close', leave).end();
  } catch (error) {
    // not waited for: a piece may be under way that never comes
    iterator.return?.().catch(() => undefined);
    throw error;
  } finally {
    response.setTimeout(0).off('close', leave);
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
