import { NOT_AWAITED } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import { Pool } from 'undici';
import type { Dispatcher } from 'undici';

const CONNECT_TIMEOUT_MS = 5000;
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;
const SECONDS = /^\d+(\.\d+)?$/;

export interface WholeAnswer {
  readonly kind: 'answer';
  readonly status: number;
  /** Undefined if the answer is not JSON. */
  readonly body: unknown;
  readonly retryAfterMs: number | undefined;
  readonly headers: AnswerHeaders;
}

/** The bounds at which an exchange ends without an answer. */
export interface ExchangeBounds {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Aborted when the caller leaves. */
  readonly signal: AbortSignal;
}

/** By their names in lower case. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Connections to one upstream for exchanges. Their own deadline bounds them, so undici needs none. */
export function openPool(origin: string, connections: number): Pool {
  return new Pool(origin, { connections, connect: { timeout: CONNECT_TIMEOUT_MS }, headersTimeout: 0, bodyTimeout: 0 });
}

/**
 * Sends a request and reads the whole answer. Rejects if no whole answer comes in time, if it exceeds the size limit,
 * or if the caller leaves. A request that still waits for a connection by then is never sent.
 */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  { clock, timeoutMs, signal }: ExchangeBounds,
): Promise<WholeAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<WholeAnswer>();
  const over = new AbortController();
  let controller: Dispatcher.DispatchController | undefined;
  const end = (): void => {
    signal.removeEventListener('abort', leave);
    over.abort(NOT_AWAITED);
  };
  const stop = (reason: Error): void => {
    end();
    reject(reason);
    controller?.abort(reason);
  };
  const leave = (): void => {
    stop(toError(signal.reason));
  };
  if (signal.aborted) {
    leave();
    return promise;
  }
  signal.addEventListener('abort', leave, { once: true });
  void clock.sleep(timeoutMs, over.signal).then(() => {
    if (!over.signal.aborted) stop(new DOMException('no answer came in time', 'TimeoutError'));
  });
  const answer = collector();
  dispatcher.dispatch(request, {
    onRequestStart: (started) => {
      controller = started;
      if (over.signal.aborted) started.abort(new Error('the answer is no longer awaited'));
    },
    onResponseStart: (_controller, status, headers) => {
      answer.begin(status, headers);
    },
    onResponseData: (_controller, part) => {
      if (!answer.take(part)) stop(new Error('the answer is too long'));
    },
    onResponseEnd: () => {
      end();
      resolve(answer.whole());
    },
    onResponseError: (_controller, reason) => {
      end();
      reject(reason);
    },
  });
  return promise;
}

interface Collector {
  begin(status: number, headers: AnswerHeaders): void;
  /** Adds a part. Returns whether the answer is still within the size limit. */
  take(part: Buffer): boolean;
  whole(): WholeAnswer;
}

function collector(): Collector {
  const parts: Buffer[] = [];
  let [status, bytes] = [0, 0];
  let headers: AnswerHeaders = {};
  return {
    begin: (code, given) => {
      [status, headers] = [code, given];
    },
    take: (part) => {
      bytes += part.length;
      if (bytes <= ANSWER_BYTES_MAX) parts.push(part);
      return bytes <= ANSWER_BYTES_MAX;
    },
    whole: () => ({
      kind: 'answer',
      status,
      body: parseJson(Buffer.concat(parts).toString('utf8')),
      retryAfterMs: readRetryAfterMs(headers),
      headers,
    }),
  };
}

/** An empty answer is told apart first: an exception costs more than the rest of a call. */
function parseJson(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Reads Retry-After in seconds, or as a time by the clock of the upstream, which the Date header shows. */
function readRetryAfterMs(headers: AnswerHeaders): number | undefined {
  const header = headers['retry-after'];
  if (header === undefined) return undefined;
  const wait = SECONDS.test(String(header))
    ? Number(header) * 1000
    : Date.parse(String(header)) - Date.parse(String(headers['date']));
  return Number.isFinite(wait) && wait > 0 ? wait : undefined;
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
