import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { Clock } from '@reelgate/platform/clock';
import type { Exchange } from '../exchange.ts';

/** The gateway reads and discards at most this much of a body to keep its connection. */
const KEEP_BYTES_MAX = 1024 * 1024;
/** A client that keeps sending has this long, and may send this much, until it notices its answer. */
const LINGER_MS = 2000;
const LINGER_BYTES_MAX = 64 * 1024 * 1024;

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
