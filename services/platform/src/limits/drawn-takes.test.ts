import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { describeWith } from '../../../../test/servers/describe-with.ts';
import { redisServer } from '../../../../test/servers/redis-server.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { SEQUENCES_TIMEOUT_MS, checkSequences, drawSequence, newStory } from '../../testing/sequences.ts';
import { systemClock } from '../clock.ts';
import { newIds } from '../ids.ts';
import { silentLog } from '../log.ts';
import { openMetrics } from '../metrics/metrics.ts';
import { Secret } from '../secret.ts';
import { FAULTS_TO_OPEN, OPEN_MS } from './circuit-breaker.ts';
import type { CircuitReport } from './circuit-breaker.ts';
import { FULL_RETRY_MS } from './peer-limits.ts';
import type { PeerLimits } from './peer-limits.ts';
import { openRedisLink } from './redis-link.ts';
import { redisScript } from './redis-script.ts';
import type { RedisLink } from './redis-link.ts';
import { divideLimits, openSharedLimits } from './shared-limits.ts';
import { SECOND_MS, WINDOW_MS } from './window-log.ts';

const STEPS_MAX = 80;
const NOTHING = redisScript('return 0');

/** What a peer admits, by the rules alone. */
interface PeerModel {
  admit(at: number, isLastResort: boolean, inUse: number): number;
  report(at: number, report: CircuitReport): void;
}

function newPeerModel(perMinute: number, inFlightMax: number): PeerModel {
  const takes: number[] = [];
  let faults = 0;
  let openedAt = -Infinity;
  let triedAt = -Infinity;
  /** The takes of one second count until a minute after the last of them. */
  const computeEnd = (take: number): number => {
    const isSameSecond = (other: number): boolean => Math.floor(other / SECOND_MS) === Math.floor(take / SECOND_MS);
    return Math.max(...takes.filter(isSameSecond)) + WINDOW_MS;
  };
  const computeWait = (at: number): number => {
    const ends = takes
      .map(computeEnd)
      .filter((end) => end > at)
      .toSorted((one, other) => one - other);
    return ends.length < perMinute ? 0 : (ends[ends.length - perMinute] ?? at) - at;
  };
  return {
    admit: (at, isLastResort, inUse) => {
      const isDown = faults >= FAULTS_TO_OPEN;
      const isOpen = isDown && at - openedAt < OPEN_MS;
      if (isDown && (at - triedAt < OPEN_MS || (isOpen && !isLastResort))) return Infinity;
      if (inUse > inFlightMax) return FULL_RETRY_MS;
      const waitMs = computeWait(at);
      if (waitMs > 0) return waitMs;
      takes.push(at);
      if (isDown) triedAt = at;
      return 0;
    },
    report: (at, report) => {
      triedAt = -Infinity;
      if (report === 'worked') faults = 0;
      if (report === 'failed') faults += 1;
      if (report === 'failed' && faults >= FAULTS_TO_OPEN) openedAt = at;
    },
  };
}

type Step =
  | { readonly admits: 'normal' | 'last resort' }
  | { readonly reports: CircuitReport }
  | { readonly advancesMs: number }
  | { readonly ends: true };

const drawStep = fc.oneof(
  { weight: 8, arbitrary: fc.record({ admits: fc.constantFrom<'normal' | 'last resort'>('normal', 'last resort') }) },
  {
    weight: 5,
    arbitrary: fc.record({
      reports: fc.constantFrom<CircuitReport>('failed', 'failed', 'failed', 'worked', 'undecided'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      advancesMs: fc.oneof(fc.integer({ min: 1, max: 3000 }), fc.integer({ min: 10_000, max: 70_000 })),
    }),
  },
  { weight: 4, arbitrary: fc.record({ ends: fc.constant(true) }) },
);
const drawLimit = fc.record({ perMinute: fc.integer({ min: 1, max: 8 }), inFlightMax: fc.integer({ min: 1, max: 4 }) });

describeWith(redisServer, 'drawn takes of the limits of a peer', (url) => {
  let redis: RedisLink;
  let sequences = 0;
  beforeAll(async () => {
    redis = await openRedisLink({ url: new Secret(url()), log: silentLog, deadlineMs: 5000 });
  });
  afterAll(() => redis.close());
  /** Redis answers in the order of the calls, so every report before this one has arrived. */
  const flush = async (): Promise<void> => {
    await redis.run(NOTHING, { keys: [], args: [] });
    await new Promise((resolve) => setImmediate(resolve));
  };

  test(
    'have the verdicts of the model in one process and in Redis',
    async () => {
      await checkSequences(fc.tuple(drawLimit, drawSequence(drawStep, STEPS_MAX)), async ([limit, steps]) => {
        const story = newStory();
        const clock = fakeClock();
        const service = `drawn-${(sequences += 1)}`;
        const metrics = openMetrics(false);
        const limits = await openSharedLimits({
          ...{ service, clock, metrics, redis, newId: newIds(systemClock), log: silentLog },
        });
        let running = 0;
        const peerLimit = {
          perMinute: limit.perMinute,
          inFlight: { most: limit.inFlightMax, inUse: () => running + 1 },
        };
        const peers: readonly PeerLimits[] = [divideLimits(clock), limits].map((one) => one.forPeer('main', peerLimit));
        const model = newPeerModel(limit.perMinute, limit.inFlightMax);
        story.tell(JSON.stringify(limit));
        const run = async (step: Step): Promise<void> => {
          if ('advancesMs' in step) await clock.advance(step.advancesMs);
          else if ('reports' in step) {
            model.report(clock.now(), step.reports);
            for (const { circuit } of peers) circuit[step.reports]();
          } else if ('ends' in step) {
            running = Math.max(0, running - 1);
            for (const peer of peers) peer.ended();
          } else {
            const isLastResort = step.admits === 'last resort';
            const expected = model.admit(clock.now(), isLastResort, running + 1);
            story.tell(`${clock.now()} ms: admit, ${step.admits}, with ${running} in flight -> ${expected}`);
            const verdicts = [await peers[0]!.admit(isLastResort), await peers[1]!.admit(isLastResort)];
            story.check(() => {
              expect(verdicts).toEqual([expected, expected]);
            });
            if (expected === 0) running += 1;
          }
        };
        try {
          for (const step of steps) {
            if (!('admits' in step)) story.tell(JSON.stringify(step));
            await run(step);
            await flush();
          }
        } finally {
          await limits.close();
        }
      });
    },
    SEQUENCES_TIMEOUT_MS,
  );
});
