import { isRecent } from '../clock.ts';
import type { Clock } from '../clock.ts';
import { thenMaybe } from '../maybe-promise.ts';
import { FULL_RETRY_MS } from './peer-limits.ts';
import type { PeerLimits } from './peer-limits.ts';
import { newWindowLog } from './window-log.ts';
import type { WindowLog } from './window-log.ts';

/** A caller that was refused for the want of room is expected again within this time. */
const WANTING_MS = 5000;
/** One that was told to wait for the minute comes back within this time. */
const WANTING_PER_MINUTE_MS = 70_000;
/** The callers whose use is remembered; the one that is known for longest is forgotten first. */
const CALLERS_MAX = 1000;

/** The callers of a limit that were refused lately. */
interface Demand {
  add(caller: string): void;
  /** The share of each caller if another one than this wants room too; undefined: it may take all there is. */
  shareOf(caller: string, most: number, users: Iterable<string>): number | undefined;
}

function newDemand(clock: Clock, forMs: number): Demand {
  const since = new Map<string, number>();
  return {
    add: (caller) => {
      since.delete(caller);
      since.set(caller, clock.now());
      forgetOldest(since);
    },
    shareOf: (caller, most, users) => {
      for (const [who, at] of since) if (!isRecent(clock, at, forMs)) since.delete(who);
      if (since.size === 0 || (since.size === 1 && since.has(caller))) return undefined;
      return Math.max(1, Math.floor(most / new Set([...since.keys(), ...users, caller]).size));
    },
  };
}

function forgetOldest(known: Map<string, unknown>): void {
  const [oldest] = known.size > CALLERS_MAX ? known.keys() : [];
  if (oldest !== undefined) known.delete(oldest);
}

/** Permits that callers share: one caller may have all of them while no other wants one, and an equal part while one does. */
export interface CallerPermits {
  tryAcquire(caller: string): boolean;
  /** Something else had no room for the call, such as the other replicas. It has no permit. */
  refused(caller: string): void;
  release(caller: string): void;
  inUse(): number;
}

/** `replicas`: the processes that share the permits, each of which gives its part. */
export function newCallerPermits(
  clock: Clock,
  { permits, replicas = () => 1 }: { readonly permits: number; readonly replicas?: () => number },
): CallerPermits {
  const held = new Map<string, number>();
  const demand = newDemand(clock, WANTING_MS);
  let inUse = 0;
  return {
    tryAcquire: (caller) => {
      const own = held.get(caller) ?? 0;
      const share = demand.shareOf(caller, permits / replicas(), held.keys());
      if (inUse >= permits || (share !== undefined && own >= share)) {
        demand.add(caller);
        return false;
      }
      inUse += 1;
      held.set(caller, own + 1);
      return true;
    },
    refused: (caller) => demand.add(caller),
    release: (caller) => {
      const own = held.get(caller) ?? 0;
      if (own === 0) throw new Error('a permit was released that this caller does not have');
      inUse -= 1;
      if (own === 1) held.delete(caller);
      else held.set(caller, own - 1);
    },
    inUse: () => inUse,
  };
}

/** The permits that each caller may have, where something else counts them for all replicas. */
export interface CallerShares {
  /** The most permits of a caller: all while no other was refused lately, and an equal part otherwise. */
  shareOf(caller: string): number;
  refused(caller: string): void;
}

export function newCallerShares(clock: Clock, permits: number): CallerShares {
  const demand = newDemand(clock, WANTING_PER_MINUTE_MS);
  return {
    shareOf: (caller) => demand.shareOf(caller, permits, []) ?? permits,
    refused: (caller) => demand.add(caller),
  };
}

/** Limits of which callers share the calls of a minute. */
export interface DividedLimits extends PeerLimits {
  /** A call of this caller goes without a call of this minute, before it has asked for one. */
  refused(caller: string): void;
}

/**
 * Limits of which callers share the calls of a minute in the same way. What this process gives each caller is known to it
 * alone, so it gives equal parts of its own part.
 */
export function shareAmongCallers(
  limits: PeerLimits,
  {
    clock,
    perMinute,
    replicas,
  }: { readonly clock: Clock; readonly perMinute: number; readonly replicas: () => number },
): DividedLimits {
  const taken = new Map<string, WindowLog>();
  const demand = newDemand(clock, WANTING_PER_MINUTE_MS);
  const waitForShare = (caller: string): number => {
    const share = demand.shareOf(caller, perMinute / replicas(), taken.keys());
    return share === undefined ? 0 : (taken.get(caller)?.waitMs(share - 1) ?? 0);
  };
  const note = (caller: string, waitMs: number): number => {
    if (waitMs === 0) noteTaken(taken, caller, clock);
    // a call that only waits for the end of another one takes nothing of the minute
    else if (waitMs < Infinity && waitMs !== FULL_RETRY_MS) demand.add(caller);
    return waitMs;
  };
  return {
    ...limits,
    refused: (caller) => demand.add(caller),
    admit: (of = {}) => {
      const { caller } = of;
      if (caller === undefined) return limits.admit(of);
      const shareMs = waitForShare(caller);
      return shareMs > 0 ? note(caller, shareMs) : thenMaybe(limits.admit(of), (waitMs) => note(caller, waitMs));
    },
  };
}

/** The caller that took nothing for longest is the first, and forgotten when it has nothing of the last minute. */
function noteTaken(taken: Map<string, WindowLog>, caller: string, clock: Clock): void {
  const log = taken.get(caller) ?? newWindowLog(clock);
  log.add(1);
  taken.delete(caller);
  taken.set(caller, log);
  for (const [who, one] of taken) {
    if (one.used() > 0) break;
    taken.delete(who);
  }
  forgetOldest(taken);
}
