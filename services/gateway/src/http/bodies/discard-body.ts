import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { startTimer } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import type { Exchange } from '../http-exchange.ts';
import { readOwner } from './read-body.ts';

const MIB = 1024 * 1024;
/** The gateway reads and discards at most this much of a body to keep its connection. */
const KEEP_BYTES_MAX = MIB;
/** A client that keeps sending has this long, and may send this much, until it notices its answer. */
const LINGER_MS = 8000;
const LINGER_BYTES_MAX = 64 * MIB;
/** The short rest of a refused body has this long to arrive. */
const REST_MS_MAX = 10_000;
/**
 * The speeds at which the refused bodies of one owner, and of all owners, are discarded. Higher speeds would delay
 * other requests, because V8 collects its whole heap after each 64 MB that Node.js reads.
 */
const OF_OWNER: PaceLimit = { perSecond: 8 * MIB, atOnce: 16 * MIB };
const OF_ALL: PaceLimit = { perSecond: 16 * MIB, atOnce: 32 * MIB };

interface PaceLimit {
  readonly perSecond: number;
  /** The bytes that may come at once after a pause. */
  readonly atOnce: number;
}

/** Reads and discards the rest of a body, as fast as all that are discarded may arrive. */
export type DiscardBody = (request: Readable, owner: string) => void;

/**
 * The refused bodies of an owner share one speed, and all refused bodies share another. A body beyond the speed waits.
 */
export function newDiscards(clock: Clock): DiscardBody {
  const all = newPace(clock, OF_ALL);
  const owners = new Map<string, Pace>();
  const findPace = (owner: string): Pace => {
    const known = owners.get(owner);
    if (known !== undefined) return known;
    for (const [other, pace] of owners) if (pace.isIdle()) owners.delete(other);
    const pace = newPace(clock, OF_OWNER);
    owners.set(owner, pace);
    return pace;
  };
  return (request, owner) => {
    request.on('data', ({ length }: Buffer) => {
      const waitMs = Math.max(findPace(owner).add(length), all.add(length));
      if (waitMs <= 0) return;
      request.pause();
      void clock.sleep(waitMs).then(() => {
        request.resume();
      });
    });
    request.resume();
  };
}

interface Pace {
  /** Counts bytes. Returns the time after which more may come, in milliseconds. */
  add(bytes: number): number;
  /** Reports whether all that was counted has had its time. */
  isIdle(): boolean;
}

function newPace(clock: Clock, { perSecond, atOnce }: PaceLimit): Pace {
  const aheadMs = (atOnce * 1000) / perSecond;
  let busyUntil = 0;
  return {
    add: (bytes) => {
      const now = clock.now();
      busyUntil = Math.max(busyUntil, now) + (bytes * 1000) / perSecond;
      return busyUntil - aheadMs - now;
    },
    isIdle: () => busyUntil <= clock.now(),
  };
}

/**
 * Handles the unread rest of a refused body. If the body is short, the gateway discards the rest and keeps the
 * connection. Otherwise it discards bytes for a moment, so that a reset does not destroy the answer, and then closes
 * the connection.
 */
export function settleUnread(exchange: Exchange, clock: Clock, discard: DiscardBody): void {
  const { req, body } = exchange;
  if (req.complete || !hasBody(req) || exchange.respond === false || Buffer.isBuffer(body)) return;
  if (exchange.state.expectsContinue) {
    exchange.set('connection', 'close');
    return;
  }
  const { kind, id } = readOwner(exchange);
  discard(req, `${kind} ${id}`);
  if (Number(req.headers['content-length'] ?? Number.NaN) <= KEEP_BYTES_MAX) {
    discardRest(req, clock);
    return;
  }
  const text = typeof body === 'string' ? body : JSON.stringify(body ?? {});
  exchange.set('connection', 'close');
  exchange.body = Readable.from(sendAndLinger(text, req, clock), { objectMode: false });
  if (typeof body !== 'string') exchange.type = 'application/json; charset=utf-8';
  exchange.length = Buffer.byteLength(text);
}

/** Closes the connection if the rest does not arrive in time. */
function discardRest(request: IncomingMessage, clock: Clock): void {
  const cancel = startTimer(clock, REST_MS_MAX, () => {
    request.destroy();
  });
  request.once('end', cancel).once('close', cancel);
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
