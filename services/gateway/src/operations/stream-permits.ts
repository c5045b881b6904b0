import { Problem } from '@reelgate/platform/problem';
import { permitsByToken } from './permits-by-token.ts';

const RETRY_MS = 5000;

/** Bounds the streams of one kind that are open: in all, and of each holder. */
export interface StreamPermits {
  /** Takes a permit until it is released; refuses with a Problem. */
  acquire(holder: string): { release(): void };
}

export interface StreamBounds {
  readonly total: number;
  readonly perHolder: number;
  /** What a refusal says when the holder has its most, and when the gateway has. */
  readonly refusals: { readonly holder: string; readonly gateway: string };
}

export function streamPermits({ total, perHolder, refusals }: StreamBounds): StreamPermits {
  const permits = permitsByToken({ total, perToken: perHolder });
  return {
    acquire: (holder) => {
      const permit = permits.tryAcquire(holder);
      if (typeof permit === 'object') return permit;
      throw new Problem({
        kind: 'exhausted',
        reason: 'rate_limit_exceeded',
        retryAfterMs: RETRY_MS,
        message: permit === 'token_full' ? refusals.holder : refusals.gateway,
      });
    },
  };
}
