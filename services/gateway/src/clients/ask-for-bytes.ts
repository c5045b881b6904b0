import { request } from 'node:http';
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';

const BUFFER_BYTES = 256 * 1024;
/** Kept for the next one to ask: memory that has been used is many times cheaper than fresh memory. */
const SPARES_MAX = 64;
/** An address does not name the port of its own scheme. */
const HTTP_PORT = 80;
const HEAD_END = '\r\n\r\n';
const HEAD_BYTES_MAX = 32 * 1024;
const spares: Buffer[] = [];

export interface BytesAsked {
  readonly url: URL;
  readonly method: 'GET' | 'HEAD';
  readonly headers: OutgoingHttpHeaders;
  readonly headTimeoutMs: number;
  /** Between two pieces, while whoever reads them is not what is waited for. */
  readonly idleTimeoutMs: number;
}

export interface BytesAnswer {
  readonly head: IncomingMessage;
  /** The body. A piece is good until the next one is asked for. */
  readonly pieces: AsyncIterable<Uint8Array>;
  /** Ends the connection; harmless twice. */
  readonly close: () => void;
}

/**
 * Asks a service of our own for bytes, over a connection of its own. The system's client reads the head; the body of a known length goes
 * past it through one buffer that is used again and again, at several times the speed of a stream, whose every piece is memory anew.
 */
export function askForBytes(asked: BytesAsked): Promise<BytesAnswer> {
  const { url, method, headers, headTimeoutMs, idleTimeoutMs } = asked;
  const buffer = spares.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES);
  return new Promise((resolve, reject) => {
    let before = '';
    let body: Body | undefined;
    const socket = connect({
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? HTTP_PORT : Number(url.port),
      onread: {
        buffer,
        callback: (count) => (body === undefined ? takeHead(count) : body.take(buffer.subarray(0, count))),
      },
    });
    // what the client's parser is not given, it cannot hold on to
    const emit = (part: Uint8Array): void => void socket.emit('data', Buffer.from(part));
    const takeHead = (count: number): boolean => {
      const from = before.length;
      before += buffer.toString('latin1', 0, count);
      const end = before.indexOf(HEAD_END);
      if (end < 0 && before.length > HEAD_BYTES_MAX) socket.destroy(new Error('the head of an answer is too long'));
      const headBytes = end < 0 ? count : end + HEAD_END.length - from;
      emit(buffer.subarray(0, headBytes));
      if (headBytes === count) return true;
      if (body !== undefined) return body.take(buffer.subarray(headBytes, count));
      emit(buffer.subarray(headBytes, count));
      return true;
    };
    const outgoing = request(
      {
        path: url.pathname + url.search,
        method,
        headers: { ...headers, host: url.host, connection: 'close' },
        createConnection: () => socket,
      },
      (head) => {
        const bytes = bodyBytes(head, method);
        socket.setTimeout(idleTimeoutMs);
        head.on('error', () => undefined);
        if (bytes !== undefined) body = openBody(socket, bytes, buffer);
        resolve({
          head,
          pieces: body ?? head,
          close: () => {
            socket.destroy();
          },
        });
      },
    );
    socket.setTimeout(headTimeoutMs).on('timeout', () => {
      if (body?.isAwaited() !== false) socket.destroy(new Error('no answer came in time'));
    });
    outgoing
      .on('error', (error) => {
        socket.destroy();
        reject(error);
      })
      .end();
  });
}

/** Of an answer that has a body of a length that is said. */
function bodyBytes({ statusCode, headers }: IncomingMessage, method: string): number | undefined {
  const length = headers['content-length'];
  return method === 'GET' && (statusCode === 200 || statusCode === 206) && length !== undefined && length !== '0'
    ? Number(length)
    : undefined;
}

interface Body extends AsyncIterable<Uint8Array> {
  /** Of the connection; false: no more before it is asked for. */
  take(piece: Uint8Array): false;
  /** Whether a piece is waited for. */
  isAwaited(): boolean;
}

function openBody(socket: Socket, bytes: number, buffer: Buffer): Body {
  let arrived: Uint8Array | undefined;
  let awaited: { resolve(piece: Uint8Array): void; reject(error: Error): void } | undefined;
  let broken: Error | undefined;
  socket
    .on('error', (error) => {
      broken = error;
    })
    .once('close', () => {
      broken ??= new Error('the bytes broke off');
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
        else if (spares.length < SPARES_MAX) spares.push(buffer);
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
