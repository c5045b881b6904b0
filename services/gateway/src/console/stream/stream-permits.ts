import { Problem } from '@reelgate/platform/problem';
import { permitsByToken } from '../../operations/permits-by-token.ts';

const STREAMS_MAX = 500;
const STREAMS_PER_SESSION_MAX = 4;
const RETRY_MS = 5000;

/** Bounds the open streams of both consoles: in all, and of each token or operator. */
export interface ConsoleStreamPermits {
  /** Takes a permit until it is released; refuses with a Problem. */
  acquire(holder: string): { release(): void };
}

export function consoleStreamPermits(total = STREAMS_MAX, perHolder = STREAMS_PER_SESSION_MAX): ConsoleStreamPermits {
  const permits = permitsByToken({ total, perToken: perHolder });
  return {
    acquire: (holder) => {
      const permit = permits.tryAcquire(holder);
      if (typeof permit === 'object') return permit;
      throw new Problem({
        kind: 'exhausted',
        reason: 'rate_limit_exceeded',
        retryAfterMs: RETRY_MS,
        message:
          permit === 'token_full'
            ? `${String(perHolder)} pages follow changes already, which is the limit for one token or operator; close one`
            : `the gateway has ${String(total)} open pages that follow changes, which is its limit; try again`,
      });
    },
  };
}
