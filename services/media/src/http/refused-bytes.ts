import { Problem } from '@reelgate/platform/problem';
import type { Refusal } from './refuse.ts';

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
