import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../clock.ts';
import { newArrivals } from './body-arrivals.ts';
import type { BodyPace } from './body-arrivals.ts';

/** The callers of these ports are programs in the same network. */
const PACE: BodyPace = { idleMs: 15_000, bytesPerSecondMin: 2048 };
const TOO_SLOW = '{"code":"deadline_exceeded","message":"the body of the request stopped, or arrived too slowly"}';

interface WatchedRequest {
  readonly stop: () => void;
  /** Counts the bytes since the last measurement. */
  readonly measure: () => void;
}

/**
 * Ends requests when their body arrives too slowly, whichever reader they have: with 408, or with the end of the
 * connection if the answer has begun. It counts the bytes of the connection, so the reader loses no byte.
 */
export function newSlowRequests(clock: Clock): (request: IncomingMessage, response: ServerResponse) => void {
  const arrivals = newArrivals<WatchedRequest>(clock, PACE, () => {
    for (const watched of arrivals.list()) watched.measure();
  });
  return (request, response) => {
    if (!hasBody(request)) return;
    let counted = request.socket.bytesRead;
    const watched: WatchedRequest = {
      stop: () => {
        arrivals.remove(watched);
        refuseSlow(request, response);
      },
      measure: () => {
        const read = request.socket.bytesRead;
        if (request.complete) arrivals.remove(watched);
        // the reader is slower than the client
        else if (request.readableLength > 0) arrivals.resume(watched);
        else arrivals.extend(watched, read - counted);
        counted = read;
      },
    };
    arrivals.add(watched);
    response.once('close', () => {
      arrivals.remove(watched);
    });
  };
}

function refuseSlow(request: IncomingMessage, response: ServerResponse): void {
  if (response.headersSent) {
    request.destroy();
    return;
  }
  response
    .writeHead(408, { 'content-type': 'application/json', connection: 'close' })
    .end(TOO_SLOW, () => request.destroy());
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
