import { ServerResponse } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { systemClock } from '../clock.ts';
import { waitForAbort } from '../lifecycle/drain.ts';

const SWEEP_MS = 50;

export interface IdleWatch {
  /** Reports whether no counted request has run for this many milliseconds. */
  isIdleFor(ms: number): boolean;
}

/** The requests of an HTTP server, so that it can stop without losing one. */
export interface RunningRequests extends IdleWatch {
  /** The class of the server's answers. During a stop they say `Connection: close`. */
  readonly ServerResponse: typeof ServerResponse;
  /** Counts a request until its connection is done with it. */
  add(response: ServerResponse): void;
  /** From now on answers close their connections. */
  announceStop(): void;
  /** Resolves when no counted request runs, or at the abort. */
  settled(over: AbortSignal): Promise<void>;
}

export function newRunningRequests(): RunningRequests {
  let isStopping = false;
  let running = 0;
  let idleSince = systemClock.now();
  let tellIdle = (): void => undefined;
  return {
    ServerResponse: newResponseClass(() => isStopping),
    add: (response) => {
      running += 1;
      response.once('close', () => {
        running -= 1;
        if (!isStopping) return;
        idleSince = systemClock.now();
        if (running === 0) tellIdle();
      });
    },
    announceStop: () => {
      isStopping = true;
      idleSince = systemClock.now();
    },
    settled: async (over) => {
      while (running > 0 && !over.aborted) {
        const idle = new Promise<void>((resolve) => {
          tellIdle = resolve;
        });
        await Promise.race([idle, waitForAbort(over)]);
      }
    },
    isIdleFor: (ms) => running === 0 && systemClock.now() - idleSince >= ms,
  };
}

/** An answer cannot announce that its connection will be closed once its head is on its way. */
function newResponseClass(isStopping: () => boolean): typeof ServerResponse {
  return class<Request extends IncomingMessage> extends ServerResponse<Request> {
    override writeHead(...head: never): this {
      if (isStopping()) this.shouldKeepAlive = false;
      return super.writeHead(...(head as Parameters<ServerResponse['writeHead']>));
    }
  };
}

/**
 * Accepts no more connections and waits for the requests of those that are open. A client may be sending a request over
 * an idle connection at this moment, so idle connections are closed last.
 */
export async function closeHttp(
  server: Server,
  requests: IdleWatch,
  { over, idleMs }: { readonly over: AbortSignal; readonly idleMs: number },
): Promise<void> {
  let isClosed = false;
  const closed = new Promise<void>((resolve) => {
    // The method of the HTTP server would close the idle connections immediately.
    NetServer.prototype.close.call(server, () => {
      isClosed = true;
      resolve();
    });
  });
  const cut = (): void => server.closeAllConnections();
  if (over.aborted) cut();
  else over.addEventListener('abort', cut, { once: true });
  const since = systemClock.now();
  while (!isClosed) {
    if (requests.isIdleFor(idleMs) && systemClock.now() - since >= idleMs) {
      // Node has then read the bytes that have arrived, and a connection with a request is not idle.
      await new Promise((resolve) => setImmediate(resolve));
      server.closeIdleConnections();
    }
    await Promise.race([closed, systemClock.sleep(SWEEP_MS)]);
  }
  over.removeEventListener('abort', cut);
}
