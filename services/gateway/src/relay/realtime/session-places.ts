import { Problem } from '@reelgate/platform/problem';
import type { RealtimeSettings } from './realtime-settings.ts';

/** Where sessions are counted, those that are being opened too. */
export interface SessionPlaces {
  /** Takes a place until it is given back; refuses with a Problem. */
  take(tokenId: string): { readonly giveBack: () => void };
  taken(): number;
}

export function sessionPlaces({
  sessionsMax,
  sessionsPerTokenMax,
}: Pick<RealtimeSettings, 'sessionsMax' | 'sessionsPerTokenMax'>): SessionPlaces {
  let all = 0;
  const byToken = new Map<string, number>();
  return {
    take: (tokenId) => {
      const own = byToken.get(tokenId) ?? 0;
      if (own >= sessionsPerTokenMax)
        throw new Problem({
          kind: 'exhausted',
          reason: 'rate_limit_exceeded',
          retryAfterMs: 1000,
          message: `a token may have ${String(sessionsPerTokenMax)} sessions open at the same time`,
        });
      if (all >= sessionsMax) throw busy();
      all += 1;
      byToken.set(tokenId, own + 1);
      return {
        giveBack: () => {
          all -= 1;
          const left = (byToken.get(tokenId) ?? 1) - 1;
          if (left === 0) byToken.delete(tokenId);
          else byToken.set(tokenId, left);
        },
      };
    },
    taken: () => all,
  };
}

/** No session can be opened here, whoever asks. */
export function busy(): Problem {
  return new Problem({
    kind: 'unavailable',
    reason: 'gateway_busy',
    message: 'no further session can be opened here at this moment',
    retryAfterMs: 1000,
  });
}
