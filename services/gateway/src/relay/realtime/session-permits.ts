import type { Problem } from '@reelgate/platform/problem';
import { permitsByToken } from '../../operations/permits-by-token.ts';
import type { RealtimeSettings } from './realtime-settings.ts';
import { refuse } from '../../refusals.ts';

/** Bounds the sessions that are open or being opened: of the gateway, and of each token. */
export interface SessionPermits {
  /** Takes a permit of the token and of the tokens above it until it is released. Refuses with a Problem. */
  acquire(tokenId: string, ...makerIds: readonly string[]): { release(): void };
  inUse(): number;
}

export function sessionPermits({ sessionsMax, sessionsPerTokenMax }: RealtimeSettings): SessionPermits {
  const permits = permitsByToken({ total: sessionsMax, perToken: sessionsPerTokenMax });
  return {
    acquire: (tokenId, ...makerIds) => {
      const permit = permits.tryAcquire(tokenId, ...makerIds);
      if (permit === 'token_full') throw tooMany('a token', sessionsPerTokenMax);
      if (permit === 'maker_full')
        throw tooMany('the token that created this one, and all tokens that it created,', sessionsPerTokenMax);
      if (permit === 'all_full') throw gatewayBusy();
      return permit;
    },
    inUse: () => permits.inUse(),
  };
}

function tooMany(who: string, sessionsPerTokenMax: number): Problem {
  return refuse('rate_limit_exceeded', {
    retryAfterMs: 1000,
    message: `${who} may have ${sessionsPerTokenMax} sessions open at the same time`,
  });
}

/** The gateway opens no further session, for any token. */
export function gatewayBusy(): Problem {
  return refuse('gateway_busy', {
    message: 'the gateway can open no further session now; try again later',
    retryAfterMs: 1000,
  });
}
