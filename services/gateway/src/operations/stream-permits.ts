import { refuse } from '../refusals.ts';
import { newSemaphore } from '@reelgate/platform/limits/semaphore';
import type { Semaphore } from '@reelgate/platform/limits/semaphore';

const RETRY_MS = 5000;
const EVENT_STREAMS_MAX = 500;
const EVENT_STREAMS_PER_TOKEN_MAX = 8;
const CONSOLE_STREAMS_MAX = 500;
const CONSOLE_STREAMS_PER_SESSION_MAX = 4;

/** Bounds the streams of one kind that are open: in all, and of each holder. */
export interface StreamPermits {
  /**
   * Takes a permit of the holder and of the tokens that created its token until it is released. Refuses with a Problem.
   */
  acquire(holder: string, ...makers: readonly string[]): { release(): void };
}

/** Bounds the event streams that are open: of the gateway, and of each token. */
export function openEventStreamPermits(
  total = EVENT_STREAMS_MAX,
  perHolder = EVENT_STREAMS_PER_TOKEN_MAX,
): StreamPermits {
  return streamPermits({
    total,
    perHolder,
    refusals: {
      holder: `a token may have ${perHolder} event streams open at the same time; close one first`,
      maker:
        'the token that made this one, and all that it made, ' +
        `may have ${perHolder} event streams open at the same time; close one first`,
      gateway: `the gateway has ${total} open event streams, which is its limit; try again`,
    },
  });
}

/** Bounds the open streams of both consoles: in all, and of each token or operator. */
export function openConsoleStreamPermits(
  total = CONSOLE_STREAMS_MAX,
  perHolder = CONSOLE_STREAMS_PER_SESSION_MAX,
): StreamPermits {
  return streamPermits({
    total,
    perHolder,
    refusals: {
      holder: `${perHolder} pages follow changes already, which is the limit for one token or operator; close one`,
      maker:
        `${perHolder} pages follow changes already, which is the limit for the token that made this one ` +
        'and all that it made; close one',
      gateway: `the gateway has ${total} open pages that follow changes, which is its limit; try again`,
    },
  });
}

interface StreamBounds {
  readonly total: number;
  readonly perHolder: number;
  /** The messages of refusals when the holder, a token that created its token, or the gateway is at its limit. */
  readonly refusals: { readonly holder: string; readonly maker: string; readonly gateway: string };
}

function streamPermits({ total, perHolder, refusals }: StreamBounds): StreamPermits {
  const permits = permitsByToken({ total, perToken: perHolder });
  return {
    acquire: (holder, ...makers) => {
      const permit = permits.tryAcquire(holder, ...makers);
      if (typeof permit === 'object') return permit;
      throw refuse('rate_limit_exceeded', {
        retryAfterMs: RETRY_MS,
        message: { token_full: refusals.holder, maker_full: refusals.maker, all_full: refusals.gateway }[permit],
      });
    },
  };
}

/** Bounds the number of streams or sessions that the process, and each token, has open. */
export interface PermitsByToken {
  /**
   * Takes a permit of the token, and one of each token that created it, until they are released. If one of them has no
   * permit left, takes no permit and reports which bound is reached.
   */
  tryAcquire(tokenId: string, ...makerIds: readonly string[]): { release(): void } | FullPermits;
  inUse(): number;
}

type FullPermits = 'token_full' | 'maker_full' | 'all_full';

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
