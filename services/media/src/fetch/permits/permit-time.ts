/** The weight of past permit time halves in this time. */
const HALF_LIFE_MS = 30_000;
const MEAN_LIFE_MS = HALF_LIFE_MS / Math.LN2;

/** The recent permit time of one account, in milliseconds times permits. */
export interface PermitTime {
  /** The permit time until `now`. The caller reads it before `held`, the number of permits, changes. */
  used(now: number, held: number): number;
}

export function permitTime(start: number): PermitTime {
  let used = 0;
  let at = start;
  return {
    used: (now, held) => {
      // a clock that is set back adds nothing
      const kept = 2 ** (-Math.max(now - at, 0) / HALF_LIFE_MS);
      used = used * kept + held * MEAN_LIFE_MS * (1 - kept);
      at = now;
      return used;
    },
  };
}
