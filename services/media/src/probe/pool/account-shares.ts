import type { Clock } from '@reelgate/platform/clock';

/** What was used is forgotten by half in so long. */
const HALF_LIFE_MS = 30_000;
/** An account whose files take longer than this on the average is served by all workers but one, so that there is always one soon free for the others. */
const LONG_MS = 500;
/** What a file is taken to need before anything is known of an account. */
const FIRST_MEAN_MS = 200;
/** Weight of the last file in the average. */
const MEAN_WEIGHT = 0.3;
/** Remembered beyond those that have work. */
const ACCOUNTS_MAX = 10_000;

/** A worker's place that an account has. */
export interface Turn {
  /** Gives it back, once, and says how much of the processor was used. */
  end(usedMs: number): void;
}

export interface Waiter {
  begin(turn: Turn): void;
  refuse(): void;
}

/** What one account has waiting and going on, and what it used. */
export interface AccountShare {
  readonly account: string;
  readonly waiting: Waiter[];
  readonly meanMs: number;
}

interface Share extends AccountShare {
  running: number;
  usedMs: number;
  usedAt: number;
  meanMs: number;
  /** When it last began a job, as a count of them. */
  servedAs: number;
}

export interface AccountShares {
  of(account: string): AccountShare;
  /** Of all accounts that have work. */
  all(): readonly AccountShare[];
  /** Whose turn is next; undefined: nobody's now. */
  next(): AccountShare | undefined;
  begin(share: AccountShare): void;
  end(share: AccountShare, usedMs: number): void;
}

/**
 * Shares workers by account. Next is the account that used least of the processor of late. None ever has all of the workers, since a file
 * that has begun is not interrupted for another; those whose files take long have all but one together.
 */
export function newShares({ clock, workers }: { readonly clock: Clock; readonly workers: number }): AccountShares {
  const shares = new Map<string, Share>();
  const most = Math.max(1, workers - 1);
  let [served, running] = [0, 0];

  const active = (): Share[] => [...shares.values()].filter((share) => share.running > 0 || share.waiting.length > 0);
  const used = ({ usedMs, usedAt }: Share): number => usedMs * 0.5 ** (Math.max(0, clock.now() - usedAt) / HALF_LIFE_MS);
  const isLong = ({ meanMs }: Share): boolean => meanMs > LONG_MS;
  return {
    of: (account) => {
      const found = shares.get(account) ?? { account, waiting: [], running: 0, usedMs: 0, usedAt: clock.now(), meanMs: FIRST_MEAN_MS, servedAs: 0 };
      shares.delete(account);
      shares.set(account, found);
      if (shares.size > ACCOUNTS_MAX) forgetOldest(shares);
      return found;
    },
    all: active,
    next: () => {
      if (running >= workers) return undefined;
      const there = active();
      const each = Math.min(most, Math.ceil(workers / there.length));
      const longRunning = there.reduce((sum, share) => sum + (isLong(share) ? share.running : 0), 0);
      return there.filter((share) => share.waiting.length > 0 && share.running < each && !(isLong(share) && longRunning >= most))
        .sort((one, other) => used(one) - used(other) || one.servedAs - other.servedAs)[0];
    },
    begin: (share) => {
      const own = share as Share;
      served += 1;
      running += 1;
      own.running += 1;
      own.servedAs = served;
    },
    end: (share, usedMs) => {
      const own = share as Share;
      running -= 1;
      own.running -= 1;
      own.usedMs = used(own) + usedMs;
      own.usedAt = clock.now();
      own.meanMs += MEAN_WEIGHT * (usedMs - own.meanMs);
    },
  };
}

/** The one that was longest not heard of, among those without work. */
function forgetOldest(shares: Map<string, Share>): void {
  for (const [account, { running, waiting }] of shares) {
    if (running > 0 || waiting.length > 0) continue;
    shares.delete(account);
    return;
  }
}
