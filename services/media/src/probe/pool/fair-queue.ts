import type { Problem } from '@reelgate/platform/problem';
import type { Clock } from '@reelgate/platform/clock';
import { newShares } from './account-shares.ts';
import type { AccountShare, AccountShares, Permit } from './account-shares.ts';
import { refuse } from '../../refusals.ts';

const RETRY_MS_MIN = 1000;
const RETRY_MS_MAX = 60_000;

/** The maximum amount of waiting work of an account, estimated from its files so far. */
const WAITING_MS_MAX = 60_000;

export interface QueueOptions {
  readonly clock: Clock;
  readonly workers: number;
  /** The maximum number of jobs that a worker has at one time. */
  readonly filesMax: number;
  /** The maximum number of waiting jobs, of one account and in total. */
  readonly perAccountMax: number;
  readonly totalMax: number;
}

export interface QueueOrder {
  readonly account: string;
  /**
   * The job continues work that has begun. It precedes the other jobs of the account, and is never refused as too many.
   */
  readonly isContinued: boolean;
  /** A waiting job leaves the queue when the signal is aborted. */
  readonly signal?: AbortSignal | undefined;
}

export interface FairQueue {
  enter(order: QueueOrder): Promise<Permit>;
  stop(): void;
}

export function newFairQueue(options: QueueOptions): FairQueue {
  const shares = newShares(options);
  let stopped = false;

  const permitOf = (share: AccountShare): Permit => ({
    end: (usedMs) => {
      shares.end(share, usedMs);
      serve();
    },
  });
  const serve = (): void => {
    for (let next = shares.next(); next !== undefined && !stopped; next = shares.next()) {
      const share = next;
      const waiter = share.waiting.shift();
      shares.begin(share);
      waiter?.begin(permitOf(share));
    }
  };
  const wait = (share: AccountShare, { isContinued, signal }: QueueOrder): Promise<Permit> =>
    new Promise((resolve, reject) => {
      const leave = (): void => {
        share.waiting.splice(share.waiting.indexOf(waiter), 1);
        reject(signal?.reason as Error);
      };
      const done = (): void => {
        signal?.removeEventListener('abort', leave);
      };
      const waiter = {
        begin: (permit: Permit) => {
          done();
          resolve(permit);
        },
        refuse: () => {
          done();
          reject(busy(RETRY_MS_MIN));
        },
      };
      if (isContinued) share.waiting.unshift(waiter);
      else share.waiting.push(waiter);
      signal?.addEventListener('abort', leave, { once: true });
      if (signal?.aborted === true) leave();
      else serve();
    });
  return {
    enter: async (order) => {
      if (stopped) throw busy(RETRY_MS_MIN);
      const share = shares.of(order.account);
      const fault = order.isContinued ? undefined : tooMany(options, shares, share);
      if (fault !== undefined) throw fault;
      return wait(share, order);
    },
    stop: () => {
      stopped = true;
      for (const { waiting } of shares.all()) for (const waiter of waiting.splice(0)) waiter.refuse();
    },
  };
}

/** Creates a refusal with the time at which the queue has room: after the waiting jobs. */
function tooMany(
  { workers, perAccountMax, totalMax }: QueueOptions,
  shares: AccountShares,
  share: AccountShare,
): Problem | undefined {
  if (share.waiting.length >= perAccountMax || share.waiting.length * share.meanMs >= WAITING_MS_MAX)
    return busy(share.waiting.length * share.meanMs);
  const waiting = shares.all().reduce((sum, other) => sum + other.waiting.length, 0);
  if (waiting < totalMax) return undefined;
  const work = shares.all().reduce((sum, other) => sum + other.waiting.length * other.meanMs, 0);
  return busy(work / Math.min(workers, shares.all().length));
}

function busy(waitMs: number): Problem {
  return refuse('media_busy', {
    message: 'cannot be checked now: too many files are waiting; try again',
    retryAfterMs: Math.round(Math.min(RETRY_MS_MAX, Math.max(RETRY_MS_MIN, waitMs))),
  });
}
