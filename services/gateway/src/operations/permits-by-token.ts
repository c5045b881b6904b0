import { newSemaphore } from '@reelgate/platform/limits/semaphore';
import type { Semaphore } from '@reelgate/platform/limits/semaphore';

/** Bounds what is open at one time: of the process, and of each token. */
export interface PermitsByToken {
  /** Takes a permit until it is released, or says which bound is reached. */
  tryAcquire(tokenId: string): { release(): void } | 'token_full' | 'all_full';
  inUse(): number;
}

export function permitsByToken({
  total,
  perToken,
}: {
  readonly total: number;
  readonly perToken: number;
}): PermitsByToken {
  const all = newSemaphore({ permits: total, waitingMax: 0 });
  const byToken = new Map<string, Semaphore>();
  return {
    tryAcquire: (tokenId) => {
      const own = byToken.get(tokenId) ?? newSemaphore({ permits: perToken, waitingMax: 0 });
      if (!own.tryAcquire()) return 'token_full';
      if (!all.tryAcquire()) {
        own.release();
        return 'all_full';
      }
      byToken.set(tokenId, own);
      return {
        release: () => {
          all.release();
          own.release();
          if (own.inUse() === 0) byToken.delete(tokenId);
        },
      };
    },
    inUse: () => all.inUse(),
  };
}
