import { LRUCache } from 'lru-cache';
import type { Clock } from '@reelgate/platform/clock';

/** Of all addresses together, so that billing has a bounded load. */
const ALL = { burst: 500, perSecond: 200 };
/** Of one address. Two addresses could use up the whole refill. */
const SHARE = { burst: 250, perSecond: 100 };
/** The part of the whole that only the first look-ups of an address can take. */
const RESERVE = 200;
/** The first look-ups of an address. Twenty addresses would have to work together to use up the reserve. */
const FIRST = { burst: 10, perSecond: 1 };
/** Addresses with known shares. The address that was quiet for longest is forgotten. */
const ADDRESSES_MAX = 10_000;

/** The outcome of a request to look up a token. */
export type LookUpVerdict = 'taken' | 'address_over' | 'all_over';

/** Bounds how often unknown tokens may reach billing. */
export interface LookUpBudget {
  take(network: string): LookUpVerdict;
}

/**
 * Each address has a share of its own, and all addresses together have a bound. A part of the bound is reserved for
 * addresses that have hardly looked anything up, and refills go there first. However much others ask, a new client gets
 * in.
 */
export function openLookUpBudget(clock: Clock): LookUpBudget {
  const all = openLeakyBucket(ALL, clock);
  // grows with its addresses; by `max` alone it would take the memory of all of them at the start
  const addresses = new LRUCache<string, { readonly share: LeakyBucket; readonly first: LeakyBucket }>({
    maxSize: ADDRESSES_MAX,
    sizeCalculation: () => 1,
  });
  const openBuckets = (network: string) => {
    const known = addresses.get(network);
    if (known !== undefined) return known;
    const opened = { share: openLeakyBucket(SHARE, clock), first: openLeakyBucket(FIRST, clock) };
    addresses.set(network, opened);
    return opened;
  };
  return {
    take: (network) => {
      const { share, first } = openBuckets(network);
      if (share.left() < 1) return 'address_over';
      const isTaken = all.take(RESERVE) || (all.left() >= 1 && first.take() && all.take());
      if (!isTaken) return 'all_over';
      share.take();
      return 'taken';
    },
  };
}

interface LeakyBucket {
  /** Takes a permit if at least `keep` are left after it. */
  take(keep?: number): boolean;
  /** The permits that are left, with parts of one. */
  left(): number;
}

/** A bucket of `burst` permits that refills at a steady rate. */
function openLeakyBucket(
  { burst, perSecond }: { readonly burst: number; readonly perSecond: number },
  clock: Clock,
): LeakyBucket {
  let permits = burst;
  let at = clock.now();
  const left = (): number => {
    const now = clock.now();
    permits = Math.min(burst, permits + (Math.max(0, now - at) * perSecond) / 1000);
    at = now;
    return permits;
  };
  return {
    take: (keep = 0) => {
      if (left() < keep + 1) return false;
      permits -= 1;
      return true;
    },
    left,
  };
}
