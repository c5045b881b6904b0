import { ok } from '../diagnosis/self-checks.ts';
import type { CheckRegistry, SelfCheck } from '../diagnosis/self-checks.ts';
import type { Lifecycle } from '../lifecycle/lifecycle.ts';
import { describeServer } from '../lifecycle/when-reachable.ts';
import { StoreRefused } from '../sql/sql.ts';
import type { Secret } from '../secret.ts';
import type { RedisLink, RedisLinkOptions } from './redis-link.ts';
import { openSharedLimits } from './shared-limits.ts';
import type { SharedLimits, SharedLimitsOptions } from './shared-limits.ts';

export interface LimitsOptions extends Pick<SharedLimitsOptions, 'service' | 'replicas'> {
  /** The address of Redis. If undefined, each replica works with its part of the limits. */
  readonly url: Secret | undefined;
  /** By default a tenth of a second. */
  readonly deadlineMs: number | undefined;
}

/** The parts of a service that its limits need. */
export interface LimitsParts extends Omit<SharedLimitsOptions, keyof LimitsOptions | 'redis'> {
  readonly checks?: CheckRegistry | undefined;
}

export interface OpenLimits {
  readonly redis: RedisLink | undefined;
  readonly limits: SharedLimits;
}

/** Opens the limits that the replicas of a service share, on one connection. The client loads only where it is used. */
export async function openLimits(
  { checks, ...parts }: LimitsParts,
  lifecycle: Lifecycle,
  { url, deadlineMs, ...options }: LimitsOptions,
): Promise<OpenLimits> {
  const redis = url === undefined ? undefined : await openLink({ url, deadlineMs, log: parts.log }, options.service);
  if (redis !== undefined && url !== undefined) {
    lifecycle.add('redis', () => redis.close());
    checks?.add(redisCheck(redis, url));
  }
  const limits = await openSharedLimits({ ...parts, ...options, redis });
  lifecycle.add('limits', () => limits.close());
  return { redis, limits };
}

async function openLink(options: RedisLinkOptions, service: string): Promise<RedisLink> {
  const { openRedisLink } = await import('./redis-link.ts');
  try {
    return await openRedisLink(options);
  } catch (error) {
    throw error instanceof StoreRefused ? new StoreRefused(`${service}.redis: ${error.message}`) : error;
  }
}

/** Creates the check of whether Redis is in use. Nothing stops without it. */
function redisCheck(redis: RedisLink, url: Secret): SelfCheck {
  const where = describeServer('Redis', url.reveal());
  return {
    part: 'redis',
    check: async () =>
      redis.isAway()
        ? {
            grade: 'warn',
            detail: `${where} is away; each replica keeps to its part of the shared limits`,
            advice: redis.fault() || 'start Redis or repair the network; the limits are then shared again',
          }
        : ok(`${where} is connected`),
  };
}
