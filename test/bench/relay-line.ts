import { connect } from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

export interface Timed {
  readonly status: number;
  /** The milliseconds from the request to the first byte of the body, and to the last. */
  readonly firstMs: number;
  readonly wholeMs: number;
}

/**
 * A connection that sends one request at a time and reads answers of a known length and streams, with as little work as
 * possible.
 */
export interface RelayLine {
  ask(request: Buffer): Promise<Timed>;
  close(): void;
}

interface Asking {
  readonly startedAt: number;
  readonly done: PromiseWithResolvers<Timed>;
  status: number;
  firstAt: number;
  /** The bytes of the body that are still to come; undefined for a body that ends with its last chunk. */
  left: number | undefined;
  /** All bytes until the head is complete, then the last bytes. */
  got: Buffer;
}

export async function openRelayLine(port: number): Promise<RelayLine> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  let asking: Asking | undefined;
  const fail = (): void => asking?.done.reject(new Error('the connection was closed'));
  socket.on('error', fail).on('close', fail);
  socket.on('data', (part: Buffer) => {
    if (asking === undefined || !isWhole(asking, part)) return;
    const { startedAt, firstAt, status, done } = asking;
    asking = undefined;
    done.resolve({ status, firstMs: firstAt - startedAt, wholeMs: performance.now() - startedAt });
  });
  return {
    ask: (request) => {
      asking = {
        startedAt: performance.now(),
        done: Promise.withResolvers<Timed>(),
        status: 0,
        firstAt: 0,
        left: undefined,
        got: Buffer.alloc(0),
      };
      socket.write(request);
      return asking.done.promise;
    },
    close: () => {
      asking = undefined;
      socket.destroy();
    },
  };
}

function isWhole(asking: Asking, part: Buffer): boolean {
  if (asking.status === 0) return isWholeWithHead(asking, Buffer.concat([asking.got, part]));
  asking.firstAt ||= performance.now();
  return isEnd(asking, part);
}

function isWholeWithHead(asking: Asking, got: Buffer): boolean {
  const headEnd = got.indexOf(HEAD_END);
  asking.got = got;
  if (headEnd < 0) return false;
  const head = got.toString('latin1', 0, headEnd);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  const body = got.subarray(headEnd + HEAD_END.length);
  asking.status = Number(head.slice(9, 12));
  asking.left = length === undefined ? undefined : Number(length);
  asking.got = Buffer.alloc(0);
  if (body.length > 0) asking.firstAt = performance.now();
  return isEnd(asking, body);
}

function isEnd(asking: Asking, part: Buffer): boolean {
  if (asking.left !== undefined) {
    asking.left -= part.length;
    return asking.left <= 0;
  }
  asking.got = Buffer.concat([asking.got, part]).subarray(-LAST_CHUNK.length);
  return asking.got.equals(LAST_CHUNK);
}
