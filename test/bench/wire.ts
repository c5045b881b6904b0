import { connect } from 'node:net';
import type { Socket } from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');

export interface Reply {
  readonly status: number;
  readonly body: Buffer;
}

/** A connection that sends one request at a time, with as little work as possible, because the server is measured. */
export interface Line {
  /** False once either side has closed it: servers close connections that rest. */
  isOpen(): boolean;
  ask(request: Buffer): Promise<Reply>;
  close(): void;
}

export async function openLine(port: number): Promise<Line> {
  const socket = await connected(port);
  let waiting: { resolve(reply: Reply): void; reject(error: Error): void } | undefined;
  let got: Buffer = Buffer.alloc(0);
  const fail = (error?: Error): void => {
    waiting?.reject(error ?? new Error('the connection was closed'));
    waiting = undefined;
  };
  socket.on('error', fail).on('close', () => {
    fail();
  });
  socket.on('data', (part: Buffer) => {
    got = got.length === 0 ? part : Buffer.concat([got, part]);
    const reply = wholeReply(got);
    if (reply === undefined) return;
    got = Buffer.alloc(0);
    const done = waiting;
    waiting = undefined;
    done?.resolve(reply);
  });
  return {
    isOpen: () => !socket.destroyed,
    ask: (request) =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        if (socket.destroyed) fail();
        else socket.write(request);
      }),
    close: () => socket.destroy(),
  };
}

/** Reads the body by its length, which every measured server gives. */
function wholeReply(got: Buffer): Reply | undefined {
  const headEnd = got.indexOf(HEAD_END);
  if (headEnd < 0) return undefined;
  const head = got.toString('latin1', 0, headEnd);
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
  const from = headEnd + HEAD_END.length;
  if (got.length < from + length) return undefined;
  return { status: Number(head.slice(9, 12)), body: got.subarray(from, from + length) };
}

async function connected(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  return socket;
}

export interface Call {
  readonly method: string;
  readonly target: string;
  readonly token: string;
  readonly body?: unknown;
  readonly headers?: readonly string[];
}

/** The bytes of a request. */
export function requestOf({ method, target, token, body, headers = [] }: Call): Buffer {
  const text = body === undefined ? '' : JSON.stringify(body);
  const head = [`${method} ${target} HTTP/1.1`, 'host: 127.0.0.1', `authorization: Bearer ${token}`, ...headers];
  if (body !== undefined) head.push('content-type: application/json', `content-length: ${Buffer.byteLength(text)}`);
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${text}`);
}
