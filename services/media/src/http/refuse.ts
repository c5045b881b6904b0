import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '@reelgate/platform/problem';
import type { Picture } from '../domain/media-object.ts';

export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const SERVER_FAULTS = 500;

/** Headers that may be set for an answer that is now a refusal. Other headers, such as the request's id, stay. */
const OF_THE_BYTES = [
  'accept-ranges',
  'content-disposition',
  'content-range',
  'content-security-policy',
  'etag',
  'last-modified',
];

export const NOT_FOUND: Refusal = { status: 404, code: 'not_found', message: 'there is no object at this address' };
export const RESULT_EXPIRED: Refusal = {
  status: 410,
  code: 'result_expired',
  message: 'this object is no longer stored',
};
export const NO_PICTURE: Readonly<Record<Picture, Refusal>> = {
  thumbnail: {
    status: 404,
    code: 'thumbnail_unavailable',
    message: 'this video has no thumbnail: its first frame could not be decoded',
  },
  last_frame: {
    status: 404,
    code: 'last_frame_unavailable',
    message: 'this video has no picture of its last frame: order it with return_last_frame, where the model takes it',
  },
};
export const BROKEN: Refusal = { status: 500, code: 'internal_error', message: 'internal error; try again' };

/** The request is valid, but the storage does not work now. */
export function unavailable({ reason, message, retryAfterMs = 1000 }: Problem): Refusal {
  return { status: 503, code: reason, message, headers: { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) } };
}

/** Refuses in OpenAI's envelope, without paths or hosts. If the headers are sent, it closes the connection. */
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

/** The answer to bytes that are refused. Rethrows every error that is not a refusal of these bytes. */
export function toBytesRefusal(error: unknown): Refusal {
  if (!(error instanceof Problem) || error.kind === 'unavailable') throw error;
  const { kind, reason: code, message } = error;
  if (kind === 'exhausted') return tooMany(error);
  if (kind === 'not_found') return { status: 404, code, message, headers: CLOSING };
  return code === 'body_too_large' ? tooLarge(message) : { status: 400, code, message, headers: CLOSING };
}

/** The rest of the request is not read. */
const CLOSING = { connection: 'close' };

export function tooLarge(message: string): Refusal {
  return { status: 413, code: 'body_too_large', message, headers: CLOSING };
}

function tooMany({ reason, message, retryAfterMs = 1000 }: Problem): Refusal {
  return {
    status: 429,
    code: reason,
    message,
    headers: { ...CLOSING, 'retry-after': String(Math.ceil(retryAfterMs / 1000)) },
  };
}
