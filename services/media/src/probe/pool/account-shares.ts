import type { Clock } from '@reelgate/platform/clock';

/** The weight of past processor time halves in this time. */
const HALF_LIFE_MS = 30_000;
/**
 * If the files of an account take longer than this on average, one worker does not serve it. The other accounts always
 * have a worker that is soon free.
 */
const LONG_MS = 500;
/** The assumed time of a file for an account without history. */
const FIRST_MEAN_MS = 200;
/** The weight of the last file in the average. */
const MEAN_WEIGHT = 0.3;
/** The maximum number of remembered accounts. An account with work is never forgotten. */
const ACCOUNTS_MAX = 10_000;

/** The right of an account to one worker. */
export interface Permit {
  /** Releases the worker, and reports the processor time used. */
  end(usedMs: number): void;
}

export interface Waiter {
  begin(permit: Permit): void;
  refuse(): void;
}

/** The waiting and running jobs of one account, and the processor time it used. */
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
  /** The number of its last job, counted over all accounts. */
  servedAs: number;
}

export interface AccountShares {
  of(account: string): AccountShare;
  /** The shares of all accounts that have work. */
  all(): readonly AccountShare[];
  /** Returns the account to serve next, or undefined if no account can be served now. */
  next(): AccountShare | undefined;
  begin(share: AccountShare): void;
  end(share: AccountShare, usedMs: number): void;
}

export interface SharesOptions {
  readonly clock: Clock;
  readonly workers: number;
  /** The maximum number of files that a worker has at one time. */
  readonly filesMax: number;
}

/**
 * Shares the files of the workers among accounts. The account with the least recent processor time is served next. No
 * account ever occupies all workers, because a running file is not interrupted. The accounts with slow files together
 * occupy all workers but one.
 */
export function newShares({ clock, workers, filesMax }: SharesOptions): AccountShares {
  const shares = new Map<string, Share>();
  const filesInAll = workers * filesMax;
  const most = Math.max(1, filesInAll - 1);
  const longMost = Math.max(1, workers - 1);
  let [served, running] = [0, 0];

  const active = (): Share[] => [...shares.values()].filter((share) => share.running > 0 || share.waiting.length > 0);
  const used = ({ usedMs, usedAt }: Share): number =>
    usedMs * 0.5 ** (Math.max(0, clock.now() - usedAt) / HALF_LIFE_MS);
  const isLong = ({ meanMs }: Share): boolean => meanMs > LONG_MS;
  return {
    of: (account) => {
      const found = shares.get(account) ?? {
        account,
        waiting: [],
        running: 0,
        usedMs: 0,
        usedAt: clock.now(),
        meanMs: FIRST_MEAN_MS,
        servedAs: 0,
      };
      shares.delete(account);
      shares.set(account, found);
      if (shares.size > ACCOUNTS_MAX) forgetOldest(shares);
      return found;
    },
    all: active,
    next: () => {
      if (running >= filesInAll) return undefined;
      const there = active();
      const each = Math.min(most, Math.ceil(filesInAll / there.length));
      const longRunning = there.reduce((sum, share) => sum + (isLong(share) ? share.running : 0), 0);
      return there
        .filter(
          (share) => share.waiting.length > 0 && share.running < each && !(isLong(share) && longRunning >= longMost),
        )
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

/** Forgets the least recently active account that has no work. */
function forgetOldest(shares: Map<string, Share>): void {
  for (const [account, { running, waiting }] of shares) {
    if (running > 0 || waiting.length > 0) continue;
    shares.delete(account);
    return;
  }
}
