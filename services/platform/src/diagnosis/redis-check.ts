import { describeServer } from '../lifecycle/when-reachable.ts';
import type { RedisLink } from '../limits/redis-link.ts';
import type { Secret } from '../secret.ts';
import { ok } from './self-checks.ts';
import type { SelfCheck } from './self-checks.ts';

/** Creates the check of whether Redis is in use. Nothing stops without it. */
export function redisCheck(redis: Pick<RedisLink, 'isAway'>, url: Secret): SelfCheck {
  const where = describeServer('Redis', url.reveal());
  return {
    part: 'redis',
    check: async () =>
      redis.isAway()
        ? {
            grade: 'warn',
            detail: `${where} is away; each replica keeps to its part of the shared limits`,
            advice: 'start Redis or mend the network; the limits are shared again by themselves',
          }
        : ok(`${where} is connected`),
  };
}
