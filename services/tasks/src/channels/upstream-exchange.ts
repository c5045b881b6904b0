import { startTimer } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import { unpackAnswers } from '@reelgate/platform/unpack-answers';
import { Pool } from 'undici';
import type { Dispatcher } from 'undici';
import { newAnswerCollector } from './answer-collector.ts';
import type { WholeAnswer } from './answer-collector.ts';

const CONNECT_TIMEOUT_MS = 5000;

/** The bounds at which an exchange ends without an answer. */
export interface ExchangeBounds {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Aborted when the caller leaves. */
  readonly signal: AbortSignal;
}

/** Connections to one upstream. */
export type UpstreamPool = Pick<Pool, 'dispatch'> & { destroy(): Promise<void> };

/** Opens at most this number of connections to an origin. */
export type OpenPool = (origin: string, connections: number) => UpstreamPool;

/** Connections to one upstream for exchanges. Their own deadline bounds them, so undici does not need a timeout. */
export const openPool: OpenPool = (origin, connections) =>
  new Pool(origin, { connections, connect: { timeout: CONNECT_TIMEOUT_MS }, headersTimeout: 0, bodyTimeout: 0 });

/**
 * Sends a request and reads the whole answer. Rejects if no whole answer comes in time, if it exceeds the size limit,
 * or if the caller leaves. A request that still waits for a connection by then is never sent.
 */
export function exchange(
  dispatcher: Pick<Dispatcher, 'dispatch'>,
  request: Dispatcher.DispatchOptions,
  { clock, timeoutMs, signal }: ExchangeBounds,
): Promise<WholeAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<WholeAnswer>();
  let isOver = false;
  let controller: Dispatcher.DispatchController | undefined;
  const end = (): void => {
    isOver = true;
    signal.removeEventListener('abort', leave);
    stopTimer();
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
    reject(toError(signal.reason));
    return promise;
  }
  signal.addEventListener('abort', leave, { once: true });
  const stopTimer = startTimer(clock, timeoutMs, () => {
    stop(new DOMException('no answer came in time', 'TimeoutError'));
  });
  const answer = newAnswerCollector();
  const handler = unpackAnswers({
    onRequestStart: (started) => {
      controller = started;
      if (isOver) started.abort(new Error('the answer is no longer awaited'));
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
  dispatcher.dispatch(request, handler);
  return promise;
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
