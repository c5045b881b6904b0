import type { Clock } from '../clock.ts';
import type { NewId } from '../ids.ts';
import { startWorker } from '../lifecycle/worker.ts';
import { backgroundLog } from '../log.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { ok } from '../diagnosis/self-checks.ts';
import type { CheckRegistry, SelfCheck } from '../diagnosis/self-checks.ts';
import type { Lifecycle } from '../lifecycle/lifecycle.ts';
import { describeServer } from '../lifecycle/when-reachable.ts';
import { StoreRefused } from '../sql/sql.ts';
import type { Secret } from '../secret.ts';
import { newSharedPeer } from './peer-limits.ts';
import type { PeerLimit, PeerLimits, SharedPeer, SharedState } from './peer-limits.ts';
import type { RedisLink, RedisLinkOptions } from './redis-link.ts';
import { newRedisState } from './redis-state.ts';

/** The interval at which a replica renews its entry and learns the state of the others. */
const RENEW_MS = 1000;

/** The limits of the peers of a service. */
export interface SharedLimits {
  /** Returns the limits of a peer. A known peer adopts new limits and keeps the permits that were taken. */
  forPeer(id: string, limit: PeerLimit): PeerLimits;
  /** The live replicas that share the limits, this one included. */
  readonly replicas: () => number;
}

interface SharedLimitsOptions extends Omit<LimitsOptions, 'url' | 'deadlineMs'> {
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Without it, each replica works with its part of the limits. */
  readonly redis: RedisLink | undefined;
}

/** Limits without a shared state: each of the replicas has an equal part. */
export function divideLimits(clock: Clock, replicas: () => number = () => 1): SharedLimits {
  return limitsOn(clock, newUnsharedState(replicas), new Map());
}

export async function openSharedLimits(
  options: SharedLimitsOptions,
): Promise<SharedLimits & { close(): Promise<void> }> {
  const { service, clock, newId, log, redis, replicas } = options;
  if (redis === undefined) return { ...divideLimits(clock, replicas), close: async () => undefined };
  const peers = new Map<string, SharedPeer>();
  const state = newRedisState({
    prefix: `{reelgate:${service}}`,
    replica: newId('replica'),
    redis,
    clock,
    peers,
    liveReplicas: replicas,
    onFallback: fallbackReports(options),
  });
  await state.renew();
  const worker = startWorker({ name: 'shared limits', clock, log, idleMs: RENEW_MS, pass: () => state.renew() });
  redis.onChange((reason) => {
    if (redis.isAway()) state.fallBack(reason);
    else worker.wake();
  });
  return {
    ...limitsOn(clock, state.shared, peers),
    close: async () => {
      await worker.stop();
      await state.leave();
    },
  };
}

function limitsOn(clock: Clock, shared: SharedState, peers: Map<string, SharedPeer>): SharedLimits {
  return {
    replicas: () => shared.replicas(),
    forPeer: (id, limit) => {
      const known = peers.get(id);
      known?.change(limit);
      const peer = known ?? newSharedPeer(id, { limit, clock, shared });
      peers.set(id, peer);
      return peer.limits;
    },
  };
}

function newUnsharedState(replicas: () => number): SharedState {
  return {
    isUsed: () => false,
    replicas: () => Math.max(1, replicas()),
    missing: () => 0,
    admit: async () => undefined,
    report: () => undefined,
    ended: () => undefined,
  };
}

/** A metric, and a line for each change. */
function fallbackReports({ service, log, metrics }: SharedLimitsOptions): (isAlone: boolean, reason: unknown) => void {
  const gauge = metrics.gauge(
    'reelgate_shared_limits_fallback',
    'Whether a service works with its part of the limits of peers because Redis is away: 1 yes, 0 no',
    ['service'],
  );
  const falls = metrics.counter(
    'reelgate_shared_limits_fallbacks_total',
    'Times that a service fell back to its part of the limits of peers',
    ['service'],
  );
  const lines = backgroundLog(log);
  gauge.labels(service).set(0);
  falls.labels(service).inc(0);
  return (isAlone, reason) => {
    gauge.labels(service).set(isAlone ? 1 : 0);
    if (isAlone) falls.labels(service).inc();
    if (isAlone) lines.warn({ err: reason }, 'redis is away: each replica keeps to its part of the shared limits');
    else lines.info({}, 'redis is used again: the replicas share their limits');
  };
}

interface LimitsOptions {
  /** The name of the service in the keys of Redis. */
  readonly service: string;
  /** The number of live replicas, if the service knows it without Redis. */
  readonly replicas?: () => number;
  /** The address of Redis. If undefined, each replica works with its part of the limits. */
  readonly url: Secret | undefined;
  /** By default a tenth of a second. */
  readonly deadlineMs: number | undefined;
}

/** The parts of a service that its limits need. */
interface LimitsParts extends Omit<SharedLimitsOptions, keyof LimitsOptions | 'redis'> {
  readonly checks?: CheckRegistry | undefined;
}

interface OpenLimits {
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
