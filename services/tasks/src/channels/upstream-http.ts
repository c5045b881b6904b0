import type { Clock } from '@reelgate/platform/clock';
import { Pool } from 'undici';
import type { Dispatcher } from 'undici';

const ANSWER_BYTES_MAX = 4 * 1024 * 1024;
const CONNECT_TIMEOUT_MS = 5000;
const CONNECTIONS_MAX = 64;
/** The abort reason of an unused deadline. Without a reason, the runtime makes an exception for each. */
const ENDED = 'ended';
/** Errors that certainly occur before the upstream reads a byte of the request. */
const BEFORE_SENDING = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

export type UpstreamAnswer =
  /** `body` is undefined if the answer is not JSON. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly body: unknown;
      readonly retryAfterMs: number | undefined;
    }
  /** Nothing was sent. */
  | { readonly kind: 'unreachable'; readonly error: string }
  /** The upstream may have read the request, and no complete answer came. */
  | { readonly kind: 'lost'; readonly error: string };

export interface UpstreamRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** With the query. */
  readonly path: string;
  readonly body?: object | undefined;
  readonly timeoutMs: number;
}

/** JSON over HTTP to one upstream. Every call has a deadline, every answer a size limit, and every failure a kind. */
export interface UpstreamHttp {
  call(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer>;
  close(): Promise<void>;
}

export function upstreamHttp(
  { baseUrl, clock }: { readonly baseUrl: string; readonly clock: Clock },
  headers: () => Readonly<Record<string, string>>,
): UpstreamHttp {
  const { origin, pathname } = new URL(baseUrl);
  const prefix = pathname.replace(/\/$/, '');
  const pool = new Pool(origin, { connections: CONNECTIONS_MAX, connect: { timeout: CONNECT_TIMEOUT_MS } });
  return {
    call: async ({ method, path, body, timeoutMs }, signal) => {
      try {
        return await withDeadline({ clock, timeoutMs, signal }, async (deadline) =>
          readAnswer(
            await pool.request({
              method,
              path: prefix + path,
              signal: deadline,
              headersTimeout: timeoutMs,
              bodyTimeout: timeoutMs,
              headers: { ...headers(), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
              ...(body === undefined ? {} : { body: JSON.stringify(body) }),
            }),
          ),
        );
      } catch (error) {
        return failed(error);
      }
    },
    close: () => pool.destroy(),
  };
}

/** Runs work with a signal that aborts with the caller's signal or after `timeoutMs`. */
export async function withDeadline<T>(
  { clock, timeoutMs, signal }: { readonly clock: Clock; readonly timeoutMs: number; readonly signal: AbortSignal },
  work: (deadline: AbortSignal) => Promise<T>,
): Promise<T> {
  const [late, ended] = [new AbortController(), new AbortController()];
  void clock.sleep(timeoutMs, ended.signal).then(() => {
    if (!ended.signal.aborted) late.abort(new DOMException('no answer came in time', 'TimeoutError'));
  });
  try {
    return await work(AbortSignal.any([signal, late.signal]));
  } finally {
    ended.abort(ENDED);
  }
}

/** Reads a whole answer. Throws if it breaks off or exceeds the size limit. */
export async function readAnswer({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<UpstreamAnswer> {
  return {
    kind: 'answer',
    status: statusCode,
    body: parse(await readBounded(body)),
    retryAfterMs: retryAfter(headers),
  };
}

async function readBounded(body: Dispatcher.ResponseData['body']): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of body as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > ANSWER_BYTES_MAX) throw new Error('the answer is too long');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function failed(thrown: unknown): UpstreamAnswer {
  const code = (thrown as { code?: unknown }).code;
  const error =
    thrown instanceof Error ? `${typeof code === 'string' ? code : thrown.name}: ${thrown.message}` : String(thrown);
  return { kind: typeof code === 'string' && BEFORE_SENDING.has(code) ? 'unreachable' : 'lost', error };
}

/** Reads Retry-After in seconds, or as a time by the clock of the upstream, which the Date header shows. */
function retryAfter(headers: Readonly<Record<string, string | string[] | undefined>>): number | undefined {
  const header = headers['retry-after'];
  const wait = /^\d+(\.\d+)?$/.test(String(header))
    ? Number(header) * 1000
    : Date.parse(String(header)) - Date.parse(String(headers['date']));
  return Number.isFinite(wait) && wait > 0 ? wait : undefined;
}
