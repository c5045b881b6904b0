import { Problem } from '@reelgate/platform/problem';
import { permitsByToken } from '../../operations/permits-by-token.ts';

const STREAMS_MAX = 500;
const STREAMS_PER_TOKEN_MAX = 8;
const RETRY_MS = 5000;

/** Bounds the event streams that are open: of the gateway, and of each token. */
export interface StreamPermits {
  /** Takes a permit until it is released; refuses with a Problem. */
  acquire(tokenId: string): { release(): void };
}

export function openStreamPermits(total = STREAMS_MAX, perToken = STREAMS_PER_TOKEN_MAX): StreamPermits {
  const permits = permitsByToken({ total, perToken });
  return {
    acquire: (tokenId) => {
      const permit = permits.tryAcquire(tokenId);
      if (typeof permit === 'object') return permit;
      throw new Problem({
        kind: 'exhausted',
        reason: 'rate_limit_exceeded',
        retryAfterMs: RETRY_MS,
        message:
          permit === 'token_full'
            ? `a token may have ${String(perToken)} event streams open at the same time; close one first`
            : `the gateway has ${String(total)} open event streams, which is its limit; try again`,
      });
    },
  };
}
