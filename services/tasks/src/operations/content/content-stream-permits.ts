import type { Problem } from '@reelgate/platform/problem';
import { refuse } from '../../refusals.ts';

const FULL_RETRY_MS = 1000;

export interface StreamLimits {
  /** Such as `reads of content`. */
  readonly what: string;
  readonly total: number;
  readonly perAccount: number;
}

/** Limits streams, because each holds buffers and a connection. */
export interface StreamPermits {
  /** Takes a permit, or refuses. The result gives it back. */
  take(accountId: string): () => void;
}

export function newStreamPermits({ what, total, perAccount }: StreamLimits): StreamPermits {
  const held = new Map<string, number>();
  let all = 0;
  return {
    take: (accountId) => {
      const ofAccount = held.get(accountId) ?? 0;
      if (ofAccount >= perAccount) throw tooMany(`the account has ${perAccount} open ${what}, which is the limit`);
      if (all >= total) throw tooMany(`the service has ${total} open ${what}, which is its limit`);
      held.set(accountId, ofAccount + 1);
      all += 1;
      return () => {
        const left = (held.get(accountId) ?? 1) - 1;
        if (left === 0) held.delete(accountId);
        else held.set(accountId, left);
        all -= 1;
      };
    },
  };
}

function tooMany(message: string): Problem {
  return refuse('too_many_streams', {
    message: `${message}; try again when one has ended`,
    retryAfterMs: FULL_RETRY_MS,
  });
}
