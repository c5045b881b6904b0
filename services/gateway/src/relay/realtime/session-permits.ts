import { newSemaphore } from '@reelgate/platform/limits/semaphore';
import type { Semaphore } from '@reelgate/platform/limits/semaphore';
import { Problem } from '@reelgate/platform/problem';
import type { RealtimeSettings } from './realtime-settings.ts';

/** Bounds the sessions that are open or being opened: of the gateway, and of each token. */
export interface SessionPermits {
  /** Takes a permit until it is released; refuses with a Problem. */
  acquire(tokenId: string): { release(): void };
  inUse(): number;
}

export function sessionPermits({
  sessionsMax,
  sessionsPerTokenMax,
}: Pick<RealtimeSettings, 'sessionsMax' | 'sessionsPerTokenMax'>): SessionPermits {
  const all = newSemaphore({ permits: sessionsMax, waitingMax: 0 });
  const byToken = new Map<string, Semaphore>();
  return {
    acquire: (tokenId) => {
      const own = byToken.get(tokenId) ?? newSemaphore({ permits: sessionsPerTokenMax, waitingMax: 0 });
      if (!own.tryAcquire()) throw tooMany(sessionsPerTokenMax);
      if (!all.tryAcquire()) {
        own.release();
        throw busy();
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

function tooMany(sessionsPerTokenMax: number): Problem {
  return new Problem({
    kind: 'exhausted',
    reason: 'rate_limit_exceeded',
    retryAfterMs: 1000,
    message: `a token may have ${String(sessionsPerTokenMax)} sessions open at the same time`,
  });
}

/** The gateway opens no further session, for any token. */
export function busy(): Problem {
  return new Problem({
    kind: 'unavailable',
    reason: 'gateway_busy',
    message: 'the gateway can open no further session now; try again later',
    retryAfterMs: 1000,
  });
}
