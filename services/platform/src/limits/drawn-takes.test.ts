import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { describeWith } from '../../../../test/servers/describe-with.ts';
import { redisServer } from '../../../../test/servers/redis-server.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { SEQUENCES_TIMEOUT_MS, checkSequences, drawSequence, newStory } from '../../testing/sequences.ts';
import { systemClock } from '../clock.ts';
import { newIds } from '../ids.ts';
import { silentLog } from '../log.ts';
import { newMetrics } from '../metrics/metrics.ts';
import { Secret } from '../secret.ts';
import { FAULTS_OF_CALLER_MAX, FAULTS_TO_OPEN, OPEN_MS, TRIALS_MAX } from './circuit-breaker.ts';
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
  admit(at: number, of: { readonly caller: string; readonly isLastResort: boolean }, inUse: number): number;
  report(at: number, report: CircuitReport, caller: string | undefined): void;
}

function newPeerModel(perMinute: number, inFlightMax: number): PeerModel {
  const takes: number[] = [];
  const circuit = newCircuitModel();
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
    admit: (at, { caller, isLastResort }, inUse) => {
      const trial = circuit.findTrial(at, caller, isLastResort);
      if (trial === 'none') return Infinity;
      if (inUse > inFlightMax) return FULL_RETRY_MS;
      const waitMs = computeWait(at);
      if (waitMs > 0) return waitMs;
      takes.push(at);
      if (trial === 'trial') circuit.try(at, caller);
      return 0;
    },
    report: circuit.report,
  };
}

interface OwnModel {
  faults: number;
  openedAt: number;
  triedAt: number;
}

/** The circuit of all callers and the circuit of each of them, as two plain counts. */
function newCircuitModel() {
  let own: Record<string, OwnModel> = {};
  let counts: Record<string, number> = {};
  const trials = new Map<string, number>();
  let [sure, openedAt, isDown] = [0, -Infinity, false];
  let doubtful: string | undefined;
  const ownOf = (caller: string): OwnModel => (own[caller] ??= { faults: 0, openedAt: -Infinity, triedAt: -Infinity });
  const isWithin = (at: number, since: number): boolean => at - since < OPEN_MS;
  const sum = (): number => Object.values(counts).reduce((all, one) => all + Math.min(one, FAULTS_OF_CALLER_MAX), sure);
  const close = (): void => {
    [own, counts] = [{}, {}];
    trials.clear();
    [sure, isDown, doubtful] = [0, false, undefined];
  };
  const open = (at: number): void => {
    [openedAt, doubtful] = [at, undefined];
  };
  const count = (at: number, caller: string, wasClosed: boolean): void => {
    if (wasClosed) counts[caller] = (counts[caller] ?? 0) + 1;
    const one = ownOf(caller);
    one.faults += 1;
    if (!wasClosed || one.faults >= FAULTS_TO_OPEN) one.openedAt = at;
  };
  const fail = (at: number, caller: string | undefined, wasClosed: boolean): void => {
    if (caller === undefined) sure += 1;
    else count(at, caller, wasClosed);
    if (sum() < FAULTS_TO_OPEN) return;
    const isAgreed = doubtful !== undefined && doubtful !== caller;
    if (wasClosed || caller === undefined || isDown || isAgreed) open(at);
    else doubtful = caller;
  };
  return {
    findTrial: (at: number, caller: string, isLastResort: boolean): 'closed' | 'trial' | 'none' => {
      const { faults, openedAt: ownOpenedAt, triedAt } = ownOf(caller);
      if (!isLastResort && isWithin(at, ownOpenedAt)) return 'none';
      if (faults >= FAULTS_TO_OPEN && isWithin(at, triedAt)) return 'none';
      if (sum() < FAULTS_TO_OPEN) return faults >= FAULTS_TO_OPEN ? 'trial' : 'closed';
      const running = [...trials].flatMap(([who, since]) => (isWithin(at, since) ? [who] : []));
      const isFull = running.includes(caller) || running.length >= TRIALS_MAX;
      return isFull || (isWithin(at, openedAt) && !isLastResort) ? 'none' : 'trial';
    },
    try: (at: number, caller: string): void => {
      if (sum() >= FAULTS_TO_OPEN) trials.set(caller, at);
      if (ownOf(caller).faults >= FAULTS_TO_OPEN) ownOf(caller).triedAt = at;
    },
    report: (at: number, report: CircuitReport, caller: string | undefined): void => {
      const wasClosed = sum() < FAULTS_TO_OPEN;
      if (report === 'worked') close();
      else if (report === 'down') {
        [isDown, sure] = [true, Math.max(sure, FAULTS_TO_OPEN)];
        if (wasClosed) open(at);
      } else if (report === 'up') {
        [isDown, sure] = [false, 0];
        if (sum() === 0) close();
      } else {
        trials.delete(caller ?? '');
        ownOf(caller ?? '').triedAt = -Infinity;
        if (report === 'failed') fail(at, caller, wasClosed);
      }
    },
  };
}

type Step =
  | { readonly admits: 'normal' | 'last resort'; readonly caller: string }
  | { readonly reports: CircuitReport; readonly caller: string }
  | { readonly advancesMs: number }
  | { readonly ends: true };

const CALLERS = ['one', 'two', 'three', 'four'];
const FAILURES: readonly CircuitReport[] = Array.from({ length: 12 }, () => 'failed');

const drawStep = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      admits: fc.constantFrom<'normal' | 'last resort'>('normal', 'last resort'),
      caller: fc.constantFrom(...CALLERS),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      reports: fc.constantFrom<CircuitReport>(...FAILURES, 'worked', 'undecided', 'up', 'down'),
      caller: fc.constantFrom('', ...CALLERS),
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
        const metrics = newMetrics(false);
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
            const { reports } = step;
            const caller = step.caller === '' ? undefined : step.caller;
            model.report(clock.now(), reports, caller);
            for (const { circuit } of peers) {
              if (reports === 'up' || reports === 'down') circuit.probed(reports);
              else circuit[reports](caller);
            }
          } else if ('ends' in step) {
            running = Math.max(0, running - 1);
            for (const peer of peers) peer.ended();
          } else {
            const of = { caller: step.caller, isLastResort: step.admits === 'last resort' };
            const expected = model.admit(clock.now(), of, running + 1);
            story.tell(
              `${clock.now()} ms: admit ${step.caller}, ${step.admits}, with ${running} in flight -> ${expected}`,
            );
            const verdicts = [await peers[0]!.admit(of), await peers[1]!.admit(of)];
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
