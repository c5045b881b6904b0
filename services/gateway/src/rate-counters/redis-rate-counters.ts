import type { Clock } from '@reelgate/platform/clock';
import type { RedisLink } from '@reelgate/platform/limits/redis-link';
import { redisScript } from '@reelgate/platform/limits/redis-script';
import { WINDOW_MS, judge, judgeAll, findWindow } from '../domain/sliding-window.ts';
import type { RateCounters } from './rate-counters.ts';

/**
 * Reads both windows of each counter and counts the request if it fits into all: the rule of domain/sliding-window as
 * one atomic step. KEYS are both windows of each counter. ARGV is the window, its elapsed part, and the limit of each
 * counter.
 */
const TAKE = redisScript(`
local window = tonumber(ARGV[1])
local counts = redis.call('MGET', unpack(KEYS))
local fits = true
for i = 1, #KEYS, 2 do
  local previous, current = tonumber(counts[i] or '0'), tonumber(counts[i + 1] or '0')
  counts[i], counts[i + 1] = previous, current
  local limit = tonumber(ARGV[2 + (i + 1) / 2])
  if (limit - current) * window - previous * (window - tonumber(ARGV[2])) < window then
    fits = false
  end
end
if fits then
  for i = 2, #KEYS, 2 do
    redis.call('INCR', KEYS[i])
    redis.call('PEXPIRE', KEYS[i], 2 * window)
  end
end
return counts`);

export interface RedisRateCountersOptions {
  readonly redis: RedisLink;
  readonly clock: Clock;
  /** Counts while Redis is away, so that an outage of Redis does not stop the gateway. */
  readonly fallback: RateCounters;
}

/** The rate counters that all replicas of the gateway share. */
export function redisRateCounters({ redis, clock, fallback }: RedisRateCountersOptions): RateCounters {
  return {
    take: async (key, limit, makers = []) => {
      const { index, elapsedMs } = findWindow(clock.now());
      const root = makers.at(-1)?.key ?? key;
      const keys = [key, ...makers.map((maker) => maker.key)].flatMap((name) => [
        buildRedisKey(root, name, index - 1),
        buildRedisKey(root, name, index),
      ]);
      const call = { keys, args: [WINDOW_MS, elapsedMs, limit, ...makers.map((maker) => maker.limit)] };
      const counted = (await redis.run(TAKE, call).catch(() => undefined)) as number[] | undefined;
      if (counted === undefined) return fallback.take(key, limit, makers);
      const countsAt = (at: number) => ({
        previous: counted[2 * at] ?? 0,
        current: counted[2 * at + 1] ?? 0,
        elapsedMs,
      });
      return judgeAll([
        judge(countsAt(0), limit),
        ...makers.map((maker, at) => judge(countsAt(at + 1), maker.limit, true)),
      ]);
    },
    close: () => fallback.close(),
  };
}

/** The braces keep the windows of a token and of all its relatives on one node of a Redis cluster. */
function buildRedisKey(root: string, key: string, index: number): string {
  return key === root ? `reelgate:rate:{${root}}:${index}` : `reelgate:rate:{${root}}:${key}:${index}`;
}
