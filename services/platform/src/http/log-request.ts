import type { IncomingMessage, ServerResponse } from 'node:http';
import { systemClock } from '../clock.ts';
import type { Log } from '../log.ts';

const READS: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD']);
/** The status if the client left before the answer. */
const CLIENT_GONE = 499;
/** From this status on a request was refused, or failed. */
const REFUSED = 400;

/**
 * Writes one line for a request when it ends: at debug if it reads, at info otherwise. Of the path it has the first
 * name only, because the rest may be a capability.
 */
export function logRequest(log: Log, request: IncomingMessage, response: ServerResponse): void {
  const { method, url = '' } = request;
  const startedAt = systemClock.now();
  const route = /^\/[^/?]*/.exec(url)?.[0];
  response.once('close', () => {
    const status = response.writableFinished ? response.statusCode : CLIENT_GONE;
    const line = { level: READS.has(method) ? 'debug' : 'info', failed: status >= REFUSED } as const;
    log.access(line, { method, route, status, ms: systemClock.now() - startedAt }, 'request');
  });
}
