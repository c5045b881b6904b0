import type { Clock } from '@reelgate/platform/clock';
import type { Submission } from './channel.ts';
import { exchange, openPool } from './upstream-exchange.ts';
import type { WholeAnswer } from './upstream-exchange.ts';

const CONNECTIONS_MAX = 64;
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
  | WholeAnswer
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
  const pool = openPool(origin, CONNECTIONS_MAX);
  return {
    call: async ({ method, path, body, timeoutMs }, signal) => {
      try {
        return await exchange(
          pool,
          {
            method,
            path: prefix + path,
            headers: { ...headers(), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          },
          { clock, timeoutMs, signal },
        );
      } catch (error) {
        return toFailedAnswer(error);
      }
    },
    close: () => pool.destroy(),
  };
}

function toFailedAnswer(thrown: unknown): UpstreamAnswer {
  const code = (thrown as { code?: unknown }).code;
  const error =
    thrown instanceof Error ? `${typeof code === 'string' ? code : thrown.name}: ${thrown.message}` : String(thrown);
  return { kind: typeof code === 'string' && BEFORE_SENDING.has(code) ? 'unreachable' : 'lost', error };
}

/** Converts the answer to a submission into its outcome. `readOutcome` reads an answer that came. */
export function toSubmission(answer: UpstreamAnswer, readOutcome: (answer: WholeAnswer) => Submission): Submission {
  if (answer.kind === 'unreachable') return { outcome: 'refused', fault: 'channel', error: answer.error };
  if (answer.kind === 'lost') return { outcome: 'unknown', error: answer.error };
  return { ...readOutcome(answer), status: answer.status };
}
