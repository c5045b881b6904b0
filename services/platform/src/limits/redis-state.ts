import type { Clock } from '../clock.ts';
import type { SharedAdmission, SharedPeer, SharedState } from './peer-limits.ts';
import { ADMIT, LEAVE, RENEW, TELL } from './limit-scripts.ts';
import type { Takes } from './window-log.ts';
import type { RedisLink } from './redis-link.ts';

/**
 * After Redis was away, the replicas report the permits that they took meanwhile. Until all of them have, each keeps to
 * its part of the limits, because a restarted Redis has no state.
 */
const SETTLE_MS = 2000;
/** The ends of calls are reported together, and at most this late. */
const ENDED_MS = 50;
const NOT_LIMITED = -1;
const REDIS_TIME = -1;

export interface RedisStateOptions {
  /** Begins each key. The braces in it keep all keys on one node of a Redis cluster. */
  readonly prefix: string;
  readonly replica: string;
  readonly redis: RedisLink;
  readonly clock: Clock;
  readonly peers: ReadonlyMap<string, SharedPeer>;
  readonly liveReplicas: (() => number) | undefined;
  /** Called at each change between the shared limits and the part of this replica. */
  readonly onFallback: (isAlone: boolean, reason: unknown) => void;
}

/** The state that replicas share in Redis. */
export interface RedisState {
  readonly shared: SharedState;
  /** Renews the entry of this replica there and learns the state of the others. */
  renew(): Promise<number>;
  fallBack(reason: unknown): void;
  leave(): Promise<void>;
}

/** A new replica takes no permit before the first answer of Redis, so it need not settle. */
type Mode = 'new' | 'alone' | 'settling' | 'shared';

export function newRedisState(options: RedisStateOptions): RedisState {
  const { redis, clock, peers, liveReplicas, replica } = options;
  let mode: Mode = 'new';
  let settlesAt = 0;
  let sharing = 1;
  const stopping = new AbortController();
  const exchange = exchanger(options);
  const isUsed = (): boolean => mode === 'shared' && !redis.isAway();
  const replicas = (): number => Math.max(1, liveReplicas?.() ?? sharing);
  const fallBack = (reason: unknown): void => {
    if (mode === 'new' || mode === 'shared') options.onFallback(true, reason);
    mode = 'alone';
  };
  const settle = (): void => {
    mode = 'settling';
    settlesAt = clock.now() + SETTLE_MS;
  };
  const share = (): void => {
    if (mode === 'settling') options.onFallback(false, undefined);
    mode = 'shared';
  };
  const renew = async (): Promise<number> => {
    try {
      if (mode === 'alone') settle();
      const joins = mode !== 'settling' || clock.now() >= settlesAt;
      const answer = await exchange(joins);
      if (joins) sharing = Math.max(1, answer.sharing);
      if (answer.lost) {
        fallBack(new Error('redis has lost its state'));
        settle();
      } else if (joins && mode !== 'alone') share();
    } catch (error) {
      fallBack(error);
    }
    return 0;
  };
  return {
    renew,
    fallBack,
    shared: {
      isUsed,
      replicas,
      missing: () => Math.max(0, replicas() - sharing),
      ...newStateCalls(options, { isUsed, fallBack, stopping: stopping.signal }),
    },
    leave: async () => {
      stopping.abort();
      // calls that still run count in the part of this replica
      mode = 'alone';
      const keys = [`${options.prefix}:replicas`, ...[...peers.keys()].map(keyBuilder(options))];
      await redis.run(LEAVE, { keys, args: [toScriptTime(clock), replica] }).catch(() => undefined);
    },
  };
}

interface ExchangeResult {
  readonly sharing: number;
  /** True if Redis had lost its state. It has received the permits of this replica again. */
  readonly lost: boolean;
}

type RenewAnswer = [epoch: string, sharing: number, known: [used: number, faults: number, openedAgoMs: number][]];

/** Sends Redis the state that it lacks, and receives its state once this replica joins the others. */
function exchanger(options: RedisStateOptions): (joins: boolean) => Promise<ExchangeResult> {
  const { redis, clock, peers, replica, prefix } = options;
  let epoch = '';
  let exchanges = 0;
  const once = async (joins: boolean): Promise<ExchangeResult> => {
    const reported = [...peers].map(([id, peer]) => ({ id, peer, takes: peer.own.uncounted() }));
    const states = reported.map(({ peer, takes }) => toPeerState(peer, takes, joins));
    const [found, sharing, known] = (await redis.run(RENEW, {
      keys: [`${prefix}:replicas`, `${prefix}:epoch`, ...reported.map(({ id }) => keyBuilder(options)(id))],
      args: [toScriptTime(clock), replica, joins ? 1 : 0, `${replica}.${(exchanges += 1)}`, JSON.stringify(states)],
    })) as RenewAnswer;
    const lost = epoch !== '' && found !== epoch;
    epoch = found;
    if (lost) for (const peer of peers.values()) peer.own.lost();
    for (const [index, { peer, takes }] of reported.entries()) {
      peer.own.counted(takes);
      const [used = 0, faults = 0, openedAgoMs = 0] = known[index] ?? [];
      if (joins && !lost) peer.learn({ used, faults, openedAgoMs });
    }
    return { sharing, lost };
  };
  return async (joins) => {
    const first = await once(joins);
    if (first.lost) await once(false);
    return first;
  };
}

/** Returns the state of a peer as RENEW reads it. Faults that a replica saw alone may be unknown to the others. */
function toPeerState(peer: SharedPeer, takes: readonly Takes[], joins: boolean) {
  const ages = takes.map(({ ageMs, count }) => [ageMs, count]);
  const { faults, openedAgoMs } = peer.faults();
  return [inUse(peer), ages, joins ? 0 : faults, Math.min(openedAgoMs, Number.MAX_SAFE_INTEGER)];
}

interface CallDeps {
  readonly isUsed: () => boolean;
  readonly fallBack: (reason: unknown) => void;
  readonly stopping: AbortSignal;
}

/** Creates the functions with which a working replica asks Redis and reports to it. */
function newStateCalls(
  options: RedisStateOptions,
  { isUsed, fallBack, stopping }: CallDeps,
): Pick<SharedState, 'admit' | 'report' | 'ended'> {
  const { redis, clock, peers, replica } = options;
  const ended = new Set<string>();
  const sendReport = async (id: string, what: string, inFlight: number, caller = ''): Promise<void> => {
    if (!isUsed()) return;
    const call = { keys: [keyBuilder(options)(id)], args: [toScriptTime(clock), replica, what, inFlight, caller] };
    const answer = await redis.run(TELL, call).catch(fallBack);
    if (answer === undefined) return;
    const [faults, openedAgoMs] = answer as [number, number];
    peers.get(id)?.learnFaults({ faults, openedAgoMs });
  };
  const reportEnded = async (): Promise<void> => {
    await clock.sleep(ENDED_MS, stopping);
    const ids = [...ended];
    ended.clear();
    for (const id of ids) {
      const peer = peers.get(id);
      if (peer !== undefined && !stopping.aborted) void sendReport(id, 'ended', inUse(peer));
    }
  };
  return {
    admit: async (id, { perMinute, inFlight }, { caller = '', isLastResort = false }) => {
      const args = [perMinute, isLastResort ? 1 : 0, inFlight?.inUse() ?? NOT_LIMITED, inFlight?.most ?? 0, caller];
      const call = { keys: [keyBuilder(options)(id)], args: [toScriptTime(clock), replica, ...args] };
      const answer = await redis.run(ADMIT, call).catch(fallBack);
      if (answer === undefined) return undefined;
      const [code, waitMs, used, faults, openedAgoMs] = answer as [number, number, number, number, number];
      return { code, waitMs, used, faults, openedAgoMs } satisfies SharedAdmission;
    },
    report: (id, report, caller) => void sendReport(id, report, NOT_LIMITED, caller),
    ended: (id) => {
      if (!isUsed() || ended.has(id)) return;
      ended.add(id);
      if (ended.size === 1) void reportEnded();
    },
  };
}

function inUse(peer: SharedPeer): number {
  return peer.limit().inFlight?.inUse() ?? NOT_LIMITED;
}

/** A peer is known by its id: no key has its address or credential. */
function keyBuilder({ prefix }: RedisStateOptions): (id: string) => string {
  return (id) => `${prefix}:peer:${id}`;
}

/** Takes the time of Redis, because it is one clock for all replicas, and their own clocks differ. */
function toScriptTime(clock: Clock): number {
  return clock.isShared === true ? clock.now() : REDIS_TIME;
}
