import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** The body of an answer, at the pace of its reader. A piece is valid until the next one is requested. */
export interface PacedBody extends AsyncIterable<Uint8Array> {
  /** Reports whether a reader waits for a piece. */
  isAwaited(): boolean;
}

/** A body that is read through one buffer. */
export interface BytesBody extends PacedBody {
  /**
   * Takes a piece from the connection. Returns false, and the connection then waits until the next piece is requested.
   */
  take(piece: Uint8Array): false;
}

/** A body as Node's parser streams it. */
export function newStreamBody(head: IncomingMessage): PacedBody {
  let isAwaited = false;
  async function* pieces(): AsyncGenerator<Uint8Array> {
    const parts = head[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
    try {
      for (;;) {
        isAwaited = true;
        const part = await parts.next();
        isAwaited = false;
        if (part.done === true) return;
        yield part.value;
      }
    } catch (error) {
      // the parser reports an abort, the socket why
      throw head.socket.errored ?? error;
    } finally {
      head.destroy();
    }
  }
  return { [Symbol.asyncIterator]: pieces, isAwaited: () => isAwaited };
}

/** A body of this many bytes; `onWhole` is called when all of them were read. */
export function newBytesBody(socket: Socket, bytes: number, onWhole: () => void): BytesBody {
  let arrived: Uint8Array | undefined;
  let awaited: { resolve(piece: Uint8Array): void; reject(error: Error): void } | undefined;
  let broken: Error | undefined;
  socket
    .on('error', (error) => {
      broken = error;
    })
    .once('close', () => {
      broken ??= new Error('the connection closed within the bytes');
      awaited?.reject(broken);
    });
  const next = (): Promise<Uint8Array> =>
    new Promise((resolve, reject) => {
      const here = arrived;
      arrived = undefined;
      if (here !== undefined) resolve(here);
      else if (broken !== undefined) reject(broken);
      else awaited = { resolve, reject };
    });
  async function* pieces(): AsyncGenerator<Uint8Array> {
    try {
      for (let left = bytes; left > 0;) {
        const piece = await next();
        left -= piece.byteLength;
        yield piece;
        if (left > 0) socket.resume();
        else onWhole();
      }
    } finally {
      socket.destroy();
    }
  }
  return {
    [Symbol.asyncIterator]: pieces,
    isAwaited: () => awaited !== undefined,
    take: (piece) => {
      const waiting = awaited;
      awaited = undefined;
      if (waiting === undefined) arrived = piece;
      else waiting.resolve(piece);
      return false;
    },
  };
}
