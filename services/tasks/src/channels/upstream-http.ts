import { Readable } from 'node:stream';
import type { FormPart, UpstreamRequest } from '@reelgate/adapter-kit';
import { startTimer } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import { isUnreachable } from '@reelgate/platform/unreachable';
import { unpackAnswers } from '@reelgate/platform/unpack-answers';
import { Pool } from 'undici';
import type { Dispatcher } from 'undici';
import { newAnswerCollector } from './answer-collector.ts';
import type { WholeAnswer } from './answer-collector.ts';

const CONNECTIONS_MAX = 64;
const CONNECT_TIMEOUT_MS = 5000;
/** The HTTP client refuses such a request as a whole, before it writes a byte of it. */
const UNFIT_CODES: readonly unknown[] = [
  'UND_ERR_INVALID_ARG',
  'UND_ERR_NOT_SUPPORTED',
  'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
];
export type UpstreamResult =
  | WholeAnswer
  /** The request cannot be sent, whatever the upstream is. */
  | { readonly kind: 'unsent'; readonly error: string }
  /** Nothing was sent, because no connection could be opened. */
  | { readonly kind: 'unreachable'; readonly error: string }
  /** The upstream may have read the request, and no complete answer came. */
  | { readonly kind: 'lost'; readonly error: string };

/** HTTP to one upstream. Every call has a deadline, every answer a size limit, and every failure a kind. */
export interface UpstreamHttp {
  call(request: UpstreamRequest, timeoutMs: number, signal: AbortSignal): Promise<UpstreamResult>;
  close(): Promise<void>;
}

interface EncodedBody {
  readonly body?: string | Readable;
  readonly headers: Readonly<Record<string, string>>;
  /** Reports whether a connection has begun to read the body. */
  readonly hasBegun?: () => boolean;
}

/** Connections to one upstream. */
interface UpstreamPool {
  readonly dispatch: Pool['dispatch'];
  destroy(): Promise<void>;
}

/** Opens at most this number of connections to an origin. */
export type OpenPool = (origin: string, connections: number) => UpstreamPool;

/** Connections to one upstream for exchanges. Their own deadline bounds them, so undici does not need a timeout. */
const openHttpPool: OpenPool = (origin, connections) =>
  new Pool(origin, { connections, connect: { timeout: CONNECT_TIMEOUT_MS }, headersTimeout: 0, bodyTimeout: 0 });

interface UpstreamHttpOptions {
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly openPool?: OpenPool | undefined;
}

/** `headers` go into every call. */
export function upstreamHttp(
  { baseUrl, clock, openPool = openHttpPool }: UpstreamHttpOptions,
  headers: () => Readonly<Record<string, string>>,
): UpstreamHttp {
  const { origin, pathname } = new URL(baseUrl);
  const prefix = pathname.replace(/\/$/, '');
  const pool = openPool(origin, CONNECTIONS_MAX);
  return {
    call: async (request, timeoutMs, signal) => {
      const encoded = request.form === undefined ? encodeJson(request) : await encodeForm(request.form);
      try {
        return await exchange(
          pool,
          {
            method: request.method,
            path: prefix + request.path,
            headers: { ...headers(), ...request.headers, ...encoded.headers },
            ...(encoded.body === undefined ? {} : { body: encoded.body }),
          },
          { clock, timeoutMs, signal },
        );
      } catch (error) {
        return toFailedResult(error, encoded);
      }
    },
    close: () => pool.destroy(),
  };
}

function encodeJson({ json }: UpstreamRequest): EncodedBody {
  return json === undefined
    ? { headers: {} }
    : { body: JSON.stringify(json), headers: { 'content-type': 'application/json' } };
}

async function encodeForm(parts: readonly FormPart[]): Promise<EncodedBody> {
  const form = new FormData();
  for (const part of parts) {
    if ('text' in part) form.append(part.name, part.text);
    else form.append(part.name, new Blob([Buffer.from(part.base64, 'base64')], { type: part.type }), part.fileName);
  }
  const encoded = new Response(form);
  const bytes = Buffer.from(await encoded.arrayBuffer());
  // The body is first read when there is a connection to write it to. Until then no byte was sent.
  let begun = false;
  const body = Readable.from(
    (function* () {
      begun = true;
      yield bytes;
    })(),
  );
  return {
    body,
    hasBegun: () => begun,
    headers: {
      'content-type': encoded.headers.get('content-type') ?? '',
      'content-length': String(bytes.length),
    },
  };
}

function toFailedResult(thrown: unknown, { hasBegun }: EncodedBody): UpstreamResult {
  const code = (thrown as { code?: unknown }).code;
  const error =
    thrown instanceof Error ? `${typeof code === 'string' ? code : thrown.name}: ${thrown.message}` : String(thrown);
  if (hasBegun?.() !== true && UNFIT_CODES.includes(code)) return { kind: 'unsent', error };
  const wasSent = hasBegun?.() ?? !isUnreachable(thrown);
  return { kind: wasSent ? 'lost' : 'unreachable', error };
}

/** The bounds at which an exchange ends without an answer. */
interface ExchangeBounds {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Aborted when the caller leaves. */
  readonly signal: AbortSignal;
}

/**
 * Sends a request and reads the whole answer. Rejects if no whole answer comes in time, if it exceeds the size limit,
 * or if the caller leaves. A request that still waits for a connection by then is never sent.
 */
function exchange(
  pool: UpstreamPool,
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
  const leave = (): void => stop(toError(signal.reason));
  if (signal.aborted) {
    reject(toError(signal.reason));
    return promise;
  }
  signal.addEventListener('abort', leave, { once: true });
  const stopTimer = startTimer(clock, timeoutMs, () =>
    stop(new DOMException('no answer came in time', 'TimeoutError')),
  );
  const answer = newAnswerCollector();
  const handler = unpackAnswers({
    onRequestStart: (started) => {
      controller = started;
      if (isOver) started.abort(new Error('the answer is no longer awaited'));
    },
    onResponseStart: (_controller, status, headers) => answer.begin(status, headers),
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
  pool.dispatch(request, handler);
  return promise;
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
