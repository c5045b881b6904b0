/** Repeatable chance: the same seed gives the same numbers. */
export interface Seeded {
  /** From 0 to 1, exclusive. */
  chance(): number;
  /** A whole number from `least` to `most`, both possible. */
  whole(least: number, most: number): number;
  pick<T>(from: readonly T[]): T;
}

/** A small generator (mulberry32): good enough to choose moments and words with. */
export function seeded(seed: number): Seeded {
  let state = seed >>> 0;
  const chance = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (least: number, most: number): number => least + Math.floor(chance() * (most - least + 1));
  return {
    chance,
    whole,
    pick: <T>(from: readonly T[]): T => from[whole(0, from.length - 1)]!,
  };
}
