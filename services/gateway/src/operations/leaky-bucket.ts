import type { Clock } from '@reelgate/platform/clock';

export interface LeakyBucket {
  /** Takes a permit if one is left. */
  take(): boolean;
}

/** A bucket of `burst` permits that refills at a steady rate. */
export function openLeakyBucket(
  { burst, perSecond }: { readonly burst: number; readonly perSecond: number },
  clock: Clock,
): LeakyBucket {
  let left = burst;
  let at = clock.now();
  return {
    take: () => {
      const now = clock.now();
      left = Math.min(burst, left + (Math.max(0, now - at) * perSecond) / 1000);
      at = now;
      if (left < 1) return false;
      left -= 1;
      return true;
    },
  };
}
