/** The lanes in which tasks wait, as far as this process knows. */
export interface KnownLanes {
  readonly size: number;
  has(lane: string): boolean;
  /** A task waits in this lane. A lane that this process did not know is announced to the other processes. */
  add(lane: string): void;
  /** Another process announced that a task waits in this lane. The next pass finds its tasks. */
  learn(lane: string): void;
  /** Forgets the others: these are the lanes that the store has now. */
  replace(lanes: readonly string[]): void;
}

/** Lanes of other processes that are remembered between two looks. A look finds those that are left out. */
const LANES_MAX = 10_000;

/** `announce` may be lost: each process also looks by itself. */
export function newKnownLanes(announce: (lane: string) => void): KnownLanes {
  let known = new Set<string>();
  return {
    get size() {
      return known.size;
    },
    has: (lane) => known.has(lane),
    add: (lane) => {
      if (known.has(lane)) return;
      known.add(lane);
      announce(lane);
    },
    learn: (lane) => {
      if (known.size < LANES_MAX) known.add(lane);
    },
    replace: (lanes) => {
      known = new Set(lanes);
    },
  };
}
