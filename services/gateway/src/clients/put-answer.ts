import { Problem } from '@reelgate/platform/problem';

/** Used when media names no time. */
const QUOTA_RETRY_S = 5;
const STORAGE_RETRY_S = 5;

type PutFault = PutAnswer['error'];
/** The refusals of a put by their status. */
export const PUT_REFUSALS: Readonly<Record<number, (fault: PutFault, retryAfter: unknown) => Problem>> = {
  413: (fault) =>
    new Problem({
      kind: 'invalid',
      reason: fault?.code ?? 'body_too_large',
      message: fault?.message ?? 'too many bytes were sent at once',
    }),
  503: (fault, retryAfter) =>
    new Problem({
      kind: 'unavailable',
      reason: fault?.code ?? 'service_unavailable',
      message: fault?.message ?? 'media cannot be stored now; try again',
      retryAfterMs: (Number(retryAfter) || STORAGE_RETRY_S) * 1000,
    }),
  429: (fault, retryAfter) =>
    new Problem({
      kind: 'exhausted',
      reason: fault?.code ?? 'rate_limit_exceeded',
      message: fault?.message ?? 'too many bytes were sent within requests',
      retryAfterMs: (Number(retryAfter) || QUOTA_RETRY_S) * 1000,
    }),
};

interface PutAnswer {
  readonly object?: string;
  readonly bytes?: number;
  readonly error?: { readonly code?: string; readonly message?: string };
}

export function parsePut(text: string): PutAnswer {
  try {
    return JSON.parse(text) as PutAnswer;
  } catch {
    return {};
  }
}
