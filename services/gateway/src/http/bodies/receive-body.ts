import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { Clock } from '@reelgate/platform/clock';
import { Problem } from '@reelgate/platform/problem';
import type { Exchange } from '../http-exchange.ts';
import type { BodyBudget } from './body-budget.ts';

/** The gateway reads and discards at most this much of a body to keep its connection. */
const KEEP_BYTES_MAX = 1024 * 1024;
/** A client that keeps sending has this long, and may send this much, until it notices its answer. */
const LINGER_MS = 2000;
const LINGER_BYTES_MAX = 64 * 1024 * 1024;

/** A body that declares more waits for free bytes before the gateway reads any of it. */
const SHORT_BYTES = 1024 * 1024;

export interface ReceiveOptions {
  readonly bytesMax: number;
  readonly budget: BodyBudget;
  /** Aborted when the client leaves. */
  gone(): AbortSignal;
  /** Calls back once the exchange is over, to release the reserved bytes; at once if it is over. */
  whenOver(release: () => void): void;
  /** Sends `100 Continue` to a client that waits for it. */
  sendContinue(): void;
}

/** Reports whether a body declares so few bytes that none are reserved before it is read. */
export function isShort({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length'] ?? Number.NaN) <= SHORT_BYTES;
}

/** Consumes a chunk; resolves when it can take the next. */
export type Sink = (chunk: Buffer) => Promise<void> | void;

/** The client closed the connection before its request was complete, so no answer is possible. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/**
 * Passes a body to the sink chunk by chunk, within the limits of one body and of all bodies. The rest of a refused body
 * stays unread.
 */
export async function receiveBody(request: IncomingMessage, options: ReceiveOptions, sink: Sink): Promise<void> {
  const { bytesMax, budget } = options;
  const declared = Number(request.headers['content-length'] ?? Number.NaN);
  if (declared > bytesMax) throw tooLarge(bytesMax);
  let reserved = 0;
  let received = 0;
  let isOver = false;
  options.whenOver(() => {
    isOver = true;
    budget.release(reserved);
  });
  if (declared > SHORT_BYTES) {
    if (!(await budget.reserve(declared, options.gone()))) throw tooMany();
    if (isOver) budget.release(declared);
    else reserved = declared;
  }
  options.sendContinue();
  for await (const chunk of readChunks(request)) {
    if (received + chunk.length > bytesMax) throw tooLarge(bytesMax);
    received += chunk.length;
    const more = Math.max(0, received - reserved);
    if (!budget.tryReserve(more)) throw tooMany();
    reserved += more;
    await sink(chunk);
  }
}

export function tooMany(): Problem {
  return new Problem({
    kind: 'unavailable',
    reason: 'gateway_busy',
    message: 'the gateway holds too many request bodies; retry in 1 s',
    retryAfterMs: 1000,
  });
}

/** Ending the loop early must not destroy the request, because the answer uses the same socket. */
export async function* readChunks(request: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of (request as Readable).iterator({ destroyOnReturn: false })) yield chunk as Buffer;
  } catch (error) {
    if (request.complete) throw error;
    throw new ClientGone('the request broke off', { cause: error });
  }
}

export function tooLarge(bytesMax: number): Problem {
  return new Problem({
    kind: 'invalid',
    reason: 'body_too_large',
    message: `the body must be at most ${bytesMax} bytes`,
  });
}

/**
 * Handles the unread rest of a refused body. If the body is short, the gateway discards the rest and keeps the
 * connection. Otherwise it discards bytes for a moment, so that a reset does not destroy the answer, and then closes
 * the connection.
 */
export function settleUnread(exchange: Exchange, clock: Clock): void {
  const { req, body } = exchange;
  if (req.complete || !hasBody(req) || exchange.respond === false || Buffer.isBuffer(body)) return;
  if (exchange.state.expectsContinue) {
    exchange.set('connection', 'close');
    return;
  }
  req.resume();
  if (Number(req.headers['content-length'] ?? Number.NaN) <= KEEP_BYTES_MAX) return;
  const text = typeof body === 'string' ? body : JSON.stringify(body ?? {});
  exchange.set('connection', 'close');
  exchange.body = Readable.from(sendAndLinger(text, req, clock), { objectMode: false });
  if (typeof body !== 'string') exchange.type = 'application/json; charset=utf-8';
  exchange.length = Buffer.byteLength(text);
}

/** Sends the whole answer at once, and ends it when the client has ended its request. */
async function* sendAndLinger(text: string, request: IncomingMessage, clock: Clock): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
  const over = new AbortController();
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > LINGER_BYTES_MAX) over.abort();
  });
  const ended = once(request, 'close', { signal: over.signal }).catch(() => undefined);
  await Promise.race([ended, clock.sleep(LINGER_MS, over.signal)]);
  over.abort();
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * Reads the bytes of a body within the limits of one body and of all bodies. The rest of a refused body stays unread.
 */
export function readRawBody(request: IncomingMessage, options: ReceiveOptions): Promise<Buffer> {
  const { bytesMax, budget } = options;
  const declared = Number(request.headers['content-length'] ?? Number.NaN);
  if (declared > bytesMax) throw tooLarge(bytesMax);
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let received = 0;
  options.whenOver(() => {
    budget.release(received);
  });
  const stop = (refusal: Error): void => {
    request.off('data', take).off('end', end).pause();
    reject(refusal);
  };
  const take = (chunk: Buffer): void => {
    if (received + chunk.length > bytesMax) stop(tooLarge(bytesMax));
    else if (!budget.tryReserve(chunk.length)) stop(tooMany());
    else {
      received += chunk.length;
      chunks.push(chunk);
    }
  };
  const end = (): void => {
    const [first] = chunks;
    resolve(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks));
  };
  request
    .on('data', take)
    .once('end', end)
    .once('close', () => {
      if (!request.complete) reject(new ClientGone('the request broke off'));
    })
    .once('error', (error) => {
      reject(request.complete ? error : new ClientGone('the request broke off', { cause: error }));
    });
  options.sendContinue();
  return promise;
}
