import type { Dispatcher } from 'undici';
import { FetchFault } from '../../domain/fetch-fault.ts';
import type { OriginConnection } from '../requests/origin-connection.ts';

/** The maximum number of body bytes that are read. A longer body ends the connection. */
const BODY_BYTES_MAX = 64 * 1024;
/** The first bytes of a body, which are kept. */
const HEAD_BYTES_MAX = 2 * 1024;
/** The maximum number of interim answers (1xx) before the answer. */
const INTERIM_MAX = 8;
const OK = 200;
const NO_BYTES = Buffer.alloc(0);
/** Created once: an error with a stack takes longer than the end of a connection. */
const ENOUGH = new FetchFault('too_large', 'enough of the body was read');

type ResponseHeaders = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

export interface ReceivedAnswer {
  /** 0 if there was no answer. */
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly head: Buffer;
  /** True if the answer came to its end, so that the connection can be used again. */
  readonly isWhole: boolean;
  /** The cause that cut the answer off, undefined if the answer is complete or longer than the part that is read. */
  readonly broken: unknown;
}

type PartialAnswer = Omit<ReceivedAnswer, 'isWhole' | 'broken'>;
const NOTHING: PartialAnswer = { status: 0, headers: {}, head: NO_BYTES };

/**
 * Sends one request and receives its answer. It never rejects. When the signal is aborted, it answers with the bytes
 * received until then. The body is not decoded.
 */
export function receiveAnswer(
  connection: OriginConnection,
  request: Parameters<OriginConnection['dispatch']>[0],
  signal: AbortSignal,
): Promise<ReceivedAnswer> {
  return new Promise((resolve) => {
    let collected = NOTHING;
    let [interim, bytes] = [0, 0];
    let controller: Dispatcher.DispatchController | undefined;
    const settle = (isWhole: boolean, broken?: unknown): void => {
      signal.removeEventListener('abort', giveUp);
      resolve({ ...collected, isWhole, broken });
    };
    const giveUp = (): void => {
      settle(false, signal.reason);
      controller?.abort(signal.reason as Error);
    };
    signal.addEventListener('abort', giveUp, { once: true });
    connection.dispatch(request, {
      onRequestStart: (started) => {
        controller = started;
        if (signal.aborted) started.abort(signal.reason as Error);
      },
      onResponseStart: (_controller, status, headers) => {
        if (status >= OK) collected = { status, headers, head: NO_BYTES };
        else if ((interim += 1) > INTERIM_MAX) throw new FetchFault('too_large', 'it has too many interim answers');
      },
      onResponseData: (_controller, piece) => {
        bytes += piece.byteLength;
        collected = { ...collected, head: appendHead(collected.head, piece) };
        if (bytes <= BODY_BYTES_MAX) return;
        settle(false);
        throw ENOUGH;
      },
      onResponseEnd: () => settle(true),
      onResponseError: (_controller, error) => settle(false, error),
    });
  });
}

/** Copies the piece, because it is a view of a larger buffer. */
function appendHead(head: Buffer, piece: Buffer): Buffer {
  const missing = HEAD_BYTES_MAX - head.byteLength;
  return missing <= 0 ? head : Buffer.concat([head, piece.subarray(0, missing)]);
}
