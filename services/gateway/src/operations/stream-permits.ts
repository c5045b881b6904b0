import { Problem } from '@reelgate/platform/problem';
import { permitsByToken } from './permits-by-token.ts';

const RETRY_MS = 5000;

/** Bounds the streams of one kind that are open: in all, and of each holder. */
export interface StreamPermits {
  /** Takes a permit of the holder and of the makers of its token until it is released; refuses with a Problem. */
  acquire(holder: string, ...makers: readonly string[]): { release(): void };
}

export interface StreamBounds {
  readonly total: number;
  readonly perHolder: number;
  /** The messages of refusals when the holder, a maker of its token, or the gateway is at its limit. */
  readonly refusals: { readonly holder: string; readonly maker: string; readonly gateway: string };
}

export function streamPermits({ total, perHolder, refusals }: StreamBounds): StreamPermits {
  const permits = permitsByToken({ total, perToken: perHolder });
  return {
    acquire: (holder, ...makers) => {
      const permit = permits.tryAcquire(holder, ...makers);
      if (typeof permit === 'object') return permit;
      throw new Problem({
        kind: 'exhausted',
        reason: 'rate_limit_exceeded',
        retryAfterMs: RETRY_MS,
        message: { token_full: refusals.holder, maker_full: refusals.maker, all_full: refusals.gateway }[permit],
      });
    },
  };
}
