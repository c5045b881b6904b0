import type { Clock } from '@reelgate/platform/clock';

const BUCKET_MS = 10_000;
const BUCKETS = 30;
const MINUTE_MS = 60_000;
/** The rate of a lane that has just begun counts over this time. */
const MEASURED_MS_MIN = 2 * BUCKET_MS;
export const LANES_MAX = 10_000;

/** The turns that lanes get, from those in this process: all live processes give about as many. */
export interface LaneRates {
  /**
   * The turns in a minute over the last five minutes, or since the first of them. 0 if there were no turns in this
   * process.
   */
  readPerMinute(lane: string): number;
}

export interface LaneMeter extends LaneRates {
  /** Counts a turn. */
  record(lane: string): void;
}

/** The turns of the last buckets of a lane, each at the remainder of its number. */
interface Ring {
  readonly numbers: Float64Array;
  readonly turns: Uint32Array;
}

/** Keeps `LANES_MAX` lanes, those with the latest turns. `replicas`: the number of live processes. */
export function newLaneRates(clock: Clock, replicas = (): number => 1): LaneMeter {
  const lanes = new Map<string, Ring>();
  const readBucket = (): number => Math.floor(clock.now() / BUCKET_MS);
  return {
    record: (lane) => {
      const { numbers, turns } = lanes.get(lane) ?? newRing();
      const number = readBucket();
      const at = number % BUCKETS;
      turns[at] = numbers[at] === number ? (turns[at] ?? 0) + 1 : 1;
      numbers[at] = number;
      // the first lane of the map has the oldest last turn
      lanes.delete(lane);
      lanes.set(lane, { numbers, turns });
      for (const [oldest] of lanes) {
        if (lanes.size <= LANES_MAX) break;
        lanes.delete(oldest);
      }
    },
    readPerMinute: (lane) => {
      const { numbers, turns } = lanes.get(lane) ?? newRing();
      const newest = readBucket();
      let [sum, first] = [0, newest];
      for (const [at, number] of numbers.entries()) {
        if (number > newest || number <= newest - BUCKETS) continue;
        sum += turns[at] ?? 0;
        first = Math.min(first, number);
      }
      // a lane that had its first turn a moment ago has no rate of thousands a minute
      return (sum * replicas() * MINUTE_MS) / Math.max(clock.now() - first * BUCKET_MS, MEASURED_MS_MIN);
    },
  };
}

function newRing(): Ring {
  return { numbers: new Float64Array(BUCKETS).fill(-Infinity), turns: new Uint32Array(BUCKETS) };
}

/** A place in a lane, its share of the lane, and the turns that the lane gets. */
export interface RatedPlace {
  /** The number of tasks of its own token before it. */
  readonly position: number;
  readonly weight: number;
  /** The sum of the weights of the accounts that wait in the lane. */
  readonly weights: number;
  readonly perMinute: number;
}

/** The time in milliseconds until a place has its turn, roughly. Undefined without a rate. */
export function estimateWaitMs({ position, weight, weights, perMinute }: RatedPlace): number | undefined {
  if (perMinute <= 0) return undefined;
  return Math.round(((position + 1) * weights * MINUTE_MS) / (weight * perMinute));
}
