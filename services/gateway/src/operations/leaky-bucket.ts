import type { Clock } from '@reelgate/platform/clock';

export interface LeakyBucket {
  /** Takes a permit if at least `keep` are left after it. */
  take(keep?: number): boolean;
  /** The permits that are left, with parts of one. */
  left(): number;
}

/** A bucket of `burst` permits that refills at a steady rate. */
export function openLeakyBucket(
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
