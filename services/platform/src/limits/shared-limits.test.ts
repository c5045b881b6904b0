import { afterEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { openCuttableLine } from '../../../../test/harness/cuttable-line.ts';
import { describeWith } from '../../../../test/servers/describe-with.ts';
import { redisServer } from '../../../../test/servers/redis-server.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import type { FakeClock } from '../../testing/fake-clock.ts';
import { until, untilAfter } from '../../testing/until.ts';
import { systemClock } from '../clock.ts';
import type { Clock } from '../clock.ts';
import { newIds } from '../ids.ts';
import { silentLog } from '../log.ts';
import { newMetrics } from '../metrics/metrics.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { Secret } from '../secret.ts';
import type { PeerLimits } from './peer-limits.ts';
import { openRedisLink } from './redis-link.ts';
import { openSharedLimits } from './shared-limits.ts';
import type { SharedLimits } from './shared-limits.ts';
import { WINDOW_MS } from './window-log.ts';

const FALLBACK = 'reelgate_shared_limits_fallback{service="test"}';
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

let service = 0;
/** A name that no other test has used in this Redis. */
const fresh = (): string => `test-${(service += 1)}`;

interface Replica {
  readonly limits: SharedLimits;
  readonly metrics: Metrics;
  readonly lines: readonly string[];
  isAlone(): Promise<boolean>;
  stop(): Promise<void>;
}

interface ReplicaOptions {
  readonly url: string;
  readonly clock: Clock;
  readonly name: string;
  readonly replicas?: (() => number) | undefined;
  /** Long enough for a busy machine by default. */
  readonly deadlineMs?: number;
}

async function aReplica({ url, clock, name, replicas, deadlineMs = 5000 }: ReplicaOptions): Promise<Replica> {
  const metrics = newMetrics(false);
  const lines: string[] = [];
  const note = (_fields: object, text: string): void => void lines.push(text);
  const log = { ...silentLog, warn: note, info: note };
  const redis = await openRedisLink({ url: new Secret(url), log, deadlineMs });
  const limits = await openSharedLimits({
    service: name,
    clock,
    newId: newIds(systemClock),
    log,
    metrics,
    redis,
    ...(replicas === undefined ? {} : { replicas }),
  });
  let isOpen = true;
  const stop = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    await limits.close();
    await redis.close();
  };
  ends.push(stop);
  const isAlone = async (): Promise<boolean> =>
    (await metrics.text()).includes(`reelgate_shared_limits_fallback{service="${name}"} 1`);
  return { limits, metrics, lines, isAlone, stop };
}

/** The times at which calls were admitted. */
async function admitted(clock: Clock, peers: readonly PeerLimits[], tries: number): Promise<number[]> {
  const times: number[] = [];
  for (let one = 0; one < tries; one += 1)
    if ((await peers[one % peers.length]!.admit()) === 0) times.push(clock.now());
  return times;
}

function mostInAMinute(times: readonly number[]): number {
  return Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at < from + WINDOW_MS).length));
}

describeWith(redisServer, 'limits that replicas share', (url) => {
  async function open(perMinute: number, options: Partial<ReplicaOptions> = {}) {
    const clock = fakeClock();
    const line = await openCuttableLine(url());
    ends.push(() => line.stop());
    const name = fresh();
    const both = { url: line.url, clock, name, replicas: () => 2, ...options };
    const replicas = [await aReplica(both), await aReplica(both)] as const;
    await clock.advance(1000);
    const peers = replicas.map(({ limits }) => limits.forPeer('main', { perMinute }));
    return { clock, line, name, replicas, peers };
  }
  const areAlone = async (replicas: readonly Replica[], alone: boolean): Promise<boolean> =>
    (await Promise.all(replicas.map((one) => one.isAlone()))).every((one) => one === alone);

  test('ten a minute are ten over both replicas, and ten again a minute later', async () => {
    const { clock, peers } = await open(10);

    expect(await admitted(clock, peers, 40)).toHaveLength(10);
    expect(await peers[0]!.admit()).toBe(WINDOW_MS);
    await clock.advance(WINDOW_MS - 1);
    expect(await admitted(clock, peers, 4)).toHaveLength(0);
    await clock.advance(1);
    expect(await admitted(clock, peers, 40)).toHaveLength(10);
  });

  test('one replica may take all of it', async () => {
    const { clock, peers } = await open(10);

    expect(await admitted(clock, [peers[1]!], 40)).toHaveLength(10);
  });

  test('machines whose clocks differ by an hour share one minute', async () => {
    const name = fresh();
    const ahead: Clock = { ...systemClock, now: () => systemClock.now() + 3_600_000 };
    const replicas = [
      await aReplica({ url: url(), clock: systemClock, name }),
      await aReplica({ url: url(), clock: ahead, name }),
    ];
    const peers = replicas.map(({ limits }) => limits.forPeer('main', { perMinute: 10 }));

    expect(await admitted(systemClock, peers, 40)).toHaveLength(10);
    const waitMs = await peers[0]!.admit();
    expect([waitMs > 0, waitMs <= WINDOW_MS]).toEqual([true, true]);
  });

  test('concurrent calls of both are admitted as often as the limit says', async () => {
    const { peers } = await open(10);
    const waits = await Promise.all(Array.from({ length: 60 }, async (_, call) => peers[call % 2]!.admit()));

    expect(waits.filter((wait) => wait === 0)).toHaveLength(10);
  });

  test('any minute has at most the limit, and a call waits only if the minute before had as many', async () => {
    // without a number of live replicas, because a leap of the clock ends the places of all of them
    const { clock, replicas } = await open(1, { replicas: undefined });
    const steps = fc.array(fc.tuple(fc.nat(1), fc.integer({ min: 0, max: 15_000 })), { maxLength: 40 });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 6 }), steps, async (perMinute, moves) => {
        run += 1;
        const peers = replicas.map(({ limits }) => limits.forPeer(`c${run}`, { perMinute }));
        const times: number[] = [];
        let now = clock.now();
        for (const [by, ms] of moves) {
          const lately = times.filter((at) => at > now - WINDOW_MS - 1000).length;
          if ((await peers[by]!.admit()) === 0) times.push(now);
          else expect(lately).toBeGreaterThanOrEqual(perMinute);
          await clock.advance(ms);
          now = clock.now();
        }
        expect(mostInAMinute(times)).toBeLessThanOrEqual(perMinute);
      }),
      { numRuns: 25 },
    );
  });

  test('a Redis that dies in the middle divides the rest of the minute, and no minute exceeds the limit', async () => {
    const { clock, line, replicas, peers } = await open(10);
    const times = await admitted(clock, peers, 6);
    expect(times).toHaveLength(6);

    line.cut();
    times.push(...(await admitted(clock, peers, 30)));
    expect(await areAlone(replicas, true)).toBe(true);
    expect(times).toHaveLength(10);

    await clock.advance(WINDOW_MS);
    const later = await admitted(clock, peers, 30);
    expect(later).toHaveLength(10);
    expect(mostInAMinute([...times, ...later])).toBe(10);
    for (const { lines } of replicas)
      expect(lines).toEqual(['redis is away: each replica keeps to its part of the shared limits']);
  });

  test('a Redis that returns empty learns what was taken without it before it is used', async () => {
    const { clock, line, replicas, peers } = await open(10);
    const times = await admitted(clock, peers, 4);
    line.cut();
    times.push(...(await admitted(clock, peers, 2)));

    const other = (await redisServer.start())!;
    ends.push(() => other.stop());
    line.moveTo(other.url);
    line.mend();
    await untilAfter(clock, async () => {
      times.push(...(await admitted(clock, peers, 2)));
      return areAlone(replicas, false);
    });
    times.push(...(await admitted(clock, peers, 20)));

    expect(mostInAMinute(times)).toBeLessThanOrEqual(10);
    for (const { lines } of replicas) expect(lines.at(-1)).toBe('redis is used again: the replicas share their limits');
    await clock.advance(WINDOW_MS);
    const later: number[] = [];
    await untilAfter(clock, async () => {
      later.push(...(await admitted(clock, [peers[0]!], 5)));
      return later.length >= 10;
    });
    expect(later).toHaveLength(10);
  });

  test('a Redis that answers nothing costs each replica one deadline, not one for each call', async () => {
    const { clock, line, replicas, peers } = await open(100, { deadlineMs: 300 });
    line.freeze();
    const waiting = Promise.all(peers.map(async (peer) => peer.admit()));
    await untilAfter(clock, () => areAlone(replicas, true));
    expect(await waiting).toEqual([0, 0]);

    // while it is away the answer comes without any wait
    expect(peers.map((peer) => peer.admit())).toEqual([0, 0]);
  });

  test('a replica that alone cannot reach Redis has its part, and the others leave it to it', async () => {
    const clock = fakeClock();
    const [line, name] = [await openCuttableLine(url()), fresh()];
    ends.push(() => line.stop());
    const cutOff = await aReplica({ url: line.url, clock, name, replicas: () => 2 });
    const other = await aReplica({ url: url(), clock, name, replicas: () => 2 });
    line.cut();
    await until(() => cutOff.isAlone());
    const probe = other.limits.forPeer('probe', { perMinute: 2 });
    // its place among the replicas ends a few seconds later
    await clock.advance(6000);
    await untilAfter(clock, async () => {
      await clock.advance(WINDOW_MS);
      return (await admitted(clock, [probe], 2)).length === 1;
    });

    expect(await admitted(clock, [other.limits.forPeer('main', { perMinute: 10 })], 20)).toHaveLength(5);
    expect(await admitted(clock, [cutOff.limits.forPeer('main', { perMinute: 10 })], 20)).toHaveLength(5);
  });

  describe('a circuit', () => {
    test('opens for all replicas after five faults in a row, whichever replica saw them', async () => {
      const { clock, peers } = await open(1000);
      for (let fault = 0; fault < 5; fault += 1) {
        expect(await peers[fault % 2]!.admit()).toBe(0);
        peers[fault % 2]!.circuit.failed();
      }

      await untilAfter(clock, () => peers.every(({ circuit }) => circuit.state() === 'open'));
      expect(await Promise.all(peers.map(async (peer) => peer.admit()))).toEqual([Infinity, Infinity]);
    });

    test('that is half open is tried by one call of all replicas, and closes for all', async () => {
      const { clock, peers } = await open(1000);
      for (let fault = 0; fault < 5; fault += 1) peers[0]!.circuit.failed();
      await untilAfter(clock, () => peers[1]!.circuit.state() === 'open');
      expect(await peers[1]!.admit()).toBe(Infinity);

      await clock.advance(30_000);
      const waits = await Promise.all([0, 1, 0, 1].map(async (by) => peers[by]!.admit()));
      expect(waits.filter((wait) => wait === 0)).toHaveLength(1);
      peers[waits.indexOf(0) % 2]!.circuit.worked();

      await untilAfter(clock, () => peers.every(({ circuit }) => circuit.state() === 'closed'));
      expect(await Promise.all(peers.map(async (peer) => peer.admit()))).toEqual([0, 0]);
    });

    test('shows its state to replicas that make no call', async () => {
      const { clock, peers } = await open(1000);
      for (let fault = 0; fault < 5; fault += 1) peers[0]!.circuit.failed();

      await untilAfter(clock, () => peers[1]!.circuit.state() === 'open');
    });
  });

  test('calls in flight are limited over all replicas, and those of a dead one end', async () => {
    const { clock, replicas } = await open(1);
    const running = [0, 0];
    const peers = replicas.map(({ limits }, by) =>
      limits.forPeer('calls', { perMinute: 1000, inFlight: { most: 10, inUse: () => running[by]! } }),
    );
    const begin = async (by: number): Promise<boolean> => {
      running[by]! += 1;
      const isAdmitted = (await peers[by]!.admit()) === 0;
      if (!isAdmitted) running[by]! -= 1;
      return isAdmitted;
    };
    let begun = 0;
    for (let call = 0; call < 30; call += 1) if (await begin(call % 2)) begun += 1;
    expect([begun, ...running]).toEqual([10, 5, 5]);

    running[0] = 4;
    peers[0]!.ended();
    await untilAfter(clock, () => begin(1));
    expect(running).toEqual([4, 6]);

    await replicas[0].stop();
    expect(await begin(1)).toBe(true);
  });

  test('the state of a changed peer remains, but its circuit closes', async () => {
    const { clock, replicas, peers } = await open(4);
    expect(await admitted(clock, peers, 2)).toHaveLength(2);
    for (let fault = 0; fault < 5; fault += 1) peers[0]!.circuit.failed();
    expect(await peers[0]!.admit()).toBe(Infinity);

    const changed = replicas.map(({ limits }) => limits.forPeer('main', { perMinute: 5 }));

    expect(await admitted(clock, changed, 20)).toHaveLength(3);
  });
});

test(`without Redis at the start the service works with its part, and says so once`, async () => {
  const clock: FakeClock = fakeClock();
  const replica = await aReplica({ url: 'redis://127.0.0.1:1', clock, name: 'test', replicas: () => 2 });

  expect(await admitted(clock, [replica.limits.forPeer('main', { perMinute: 10 })], 20)).toHaveLength(5);
  for (let second = 0; second < 5; second += 1) await clock.advance(1000);
  expect(replica.lines).toHaveLength(1);
  expect(await replica.metrics.text()).toContain(`${FALLBACK} 1`);
});
