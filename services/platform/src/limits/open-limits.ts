import type { Foundation } from '../foundation.ts';
import type { Lifecycle } from '../lifecycle/lifecycle.ts';
import type { Secret } from '../secret.ts';
import { openRedisLink } from './redis-link.ts';
import type { RedisLink } from './redis-link.ts';
import { openSharedLimits } from './shared-limits.ts';
import type { SharedLimits, SharedLimitsOptions } from './shared-limits.ts';

export interface LimitsOptions extends Pick<SharedLimitsOptions, 'service' | 'replicas'> {
  /** The address of Redis; undefined: each replica works with its part of the limits. */
  readonly url: Secret | undefined;
  /** Absent: a tenth of a second. */
  readonly deadlineMs: number | undefined;
}

export interface OpenLimits {
  readonly redis: RedisLink | undefined;
  readonly limits: SharedLimits;
}

/** Opens the limits that the replicas of a service share, on one connection. */
export async function openLimits(
  foundation: Foundation,
  lifecycle: Lifecycle,
  { url, deadlineMs, ...options }: LimitsOptions,
): Promise<OpenLimits> {
  const redis = url === undefined ? undefined : await openRedisLink({ url, deadlineMs, log: foundation.log });
  if (redis !== undefined) lifecycle.add('redis', () => redis.close());
  const limits = await openSharedLimits({ ...foundation, ...options, redis });
  lifecycle.add('limits', () => limits.close());
  return { redis, limits };
}
