import type { Clock } from '@reelgate/platform/clock';
import type { RedisLink } from '@reelgate/platform/limits/redis-link';
import { redisScript } from '@reelgate/platform/limits/redis-script';
import { WINDOW_MS, judge, windowAt } from '../domain/sliding-window.ts';
import type { RateCounters } from './rate-counters.ts';

/** Reads both windows and counts the request if it fits: the rule of domain/sliding-window as one atomic step. */
const TAKE = redisScript(`
local previous = tonumber(redis.call('GET', KEYS[1]) or '0')
local current = tonumber(redis.call('GET', KEYS[2]) or '0')
local window = tonumber(ARGV[1])
if (tonumber(ARGV[3]) - current) * window - previous * (window - tonumber(ARGV[2])) >= window then
  redis.call('INCR', KEYS[2])
  redis.call('PEXPIRE', KEYS[2], 2 * window)
end
return { previous, current }`);

export interface RedisRateCountersOptions {
  readonly redis: RedisLink;
  readonly clock: Clock;
  /** Counts while Redis is away, so that an outage of Redis does not stop the gateway. */
  readonly fallback: RateCounters;
}

/** The rate counters that all replicas of the gateway share. */
export function redisRateCounters({ redis, clock, fallback }: RedisRateCountersOptions): RateCounters {
  return {
    take: async (key, limit) => {
      const { index, elapsedMs } = windowAt(clock.now());
      const call = { keys: [nameOf(key, index - 1), nameOf(key, index)], args: [WINDOW_MS, elapsedMs, limit] };
      const counted = await redis.run(TAKE, call).catch(() => undefined);
      if (counted === undefined) return fallback.take(key, limit);
      const [previous, current] = counted as [number, number];
      return judge({ previous, current, elapsedMs }, limit);
    },
    close: () => fallback.close(),
  };
}

/** The braces keep both windows of a key on the same node of a Redis cluster. */
function nameOf(key: string, index: number): string {
  return `reelgate:rate:{${key}}:${String(index)}`;
}
