import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Problem } from '@reelgate/platform/problem';

export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const SERVER_FAULTS = 500;

/** What may have been set for an answer that is now a refusal. What others have set, such as a request's id, stays. */
const OF_THE_BYTES = [
  'accept-ranges',
  'content-disposition',
  'content-range',
  'content-security-policy',
  'etag',
  'last-modified',
];

export const NOT_FOUND: Refusal = { status: 404, code: 'not_found', message: 'There is nothing at this address.' };
export const RESULT_EXPIRED: Refusal = { status: 410, code: 'result_expired', message: 'This is no longer kept.' };
export const NO_THUMBNAIL: Refusal = {
  status: 404,
  code: 'thumbnail_unavailable',
  message: 'There is no thumbnail of this video: its codec is not decoded here.',
};
export const BROKEN: Refusal = { status: 500, code: 'internal_error', message: 'Something went wrong here.' };

/** Nothing is wrong with what was asked for: our storage cannot give or take it now. */
export function unavailable({ reason, message, retryAfterMs = 1000 }: Problem): Refusal {
  return { status: 503, code: reason, message, headers: { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) } };
}

/** Answers in OpenAI's envelope, and says nothing of where things lie. After the headers there is nothing left to say. */
export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, code, message, headers = {} }: Refusal,
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  for (const name of OF_THE_BYTES) response.removeHeader(name);
  const type = status >= SERVER_FAULTS ? 'server_error' : 'invalid_request_error';
  const body = JSON.stringify({ error: { message, type, param: null, code } });
  response
    .writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...headers,
    })
    .end(request.method === 'HEAD' ? undefined : body);
}
