/** Half of what was used so long ago is forgotten. */
const HALF_LIFE_MS = 30_000;
const MEAN_LIFE_MS = HALF_LIFE_MS / Math.LN2;

/** How much of the permits one account has had lately: milliseconds times permits. */
export interface PermitTime {
  /** So far, while it holds so many permits. To be read before that number changes. */
  used(now: number, held: number): number;
}

export function permitTime(start: number): PermitTime {
  let used = 0;
  let at = start;
  return {
    used: (now, held) => {
      // a clock that was set back adds nothing
      const kept = 2 ** (-Math.max(now - at, 0) / HALF_LIFE_MS);
      used = used * kept + held * MEAN_LIFE_MS * (1 - kept);
      at = now;
      return used;
    },
  };
}
