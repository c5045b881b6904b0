import { newSemaphore } from '@reelgate/platform/limits/semaphore';
import type { Semaphore } from '@reelgate/platform/limits/semaphore';

/** Bounds the number of streams or sessions that the process, and each token, has open. */
export interface PermitsByToken {
  /**
   * Takes a permit of the token, and one of each token that created it, until they are released. If one of them has no
   * permit left, takes no permit and reports which bound is reached.
   */
  tryAcquire(tokenId: string, ...makerIds: readonly string[]): { release(): void } | FullPermits;
  inUse(): number;
}

export type FullPermits = 'token_full' | 'maker_full' | 'all_full';

export function permitsByToken({
  total,
  perToken,
}: {
  readonly total: number;
  readonly perToken: number;
}): PermitsByToken {
  const all = newSemaphore({ permits: total, waitingMax: 0 });
  const byToken = new Map<string, Semaphore>();
  const tryAcquire = (tokenId: string): boolean => {
    const own = byToken.get(tokenId) ?? newSemaphore({ permits: perToken, waitingMax: 0 });
    if (!own.tryAcquire()) return false;
    byToken.set(tokenId, own);
    return true;
  };
  const release = (tokenIds: readonly string[]): void => {
    for (const tokenId of tokenIds) {
      const own = byToken.get(tokenId);
      own?.release();
      if (own?.inUse() === 0) byToken.delete(tokenId);
    }
  };
  return {
    tryAcquire: (...line) => {
      const full = line.findIndex((tokenId) => !tryAcquire(tokenId));
      const taken = full < 0 ? line : line.slice(0, full);
      if (full < 0 && all.tryAcquire())
        return {
          release: () => {
            all.release();
            release(taken);
          },
        };
      release(taken);
      if (full < 0) return 'all_full';
      return full === 0 ? 'token_full' : 'maker_full';
    },
    inUse: () => all.inUse(),
  };
}
