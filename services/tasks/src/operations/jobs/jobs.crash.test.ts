import { describe, expect, test } from '@jest/globals';
import { recorded } from '../../../testing/journal.ts';
import { anAnswer } from '../../../testing/jobs/new-jobs.ts';
import { LIMITS, useJobWorlds } from '../../../testing/jobs/open-job-world.ts';
import type { JobWorld } from '../../../testing/jobs/open-job-world.ts';
import { dieAt } from '../../../testing/process-death.ts';
import type { Moment } from '../../../testing/process-death.ts';
import { isTerminal } from '../../domain/task.ts';
import { sweepJobs } from './end-lost-jobs.ts';
import { finishJob, leaseJobs, returnJob, startJob } from './work-jobs.ts';

const open = useJobWorlds();
const STEPS_MAX = 40;
const KEYED = { idempotency: { key: 'k', fingerprint: 'f' } };

/** Counts the calls that the upstream charges. */
interface Upstream {
  calls: number;
  call(): Promise<void>;
}

const anUpstream = (): Upstream => {
  const upstream: Upstream = {
    calls: 0,
    call: async () => {
      upstream.calls += 1;
    },
  };
  return upstream;
};

interface Scenario {
  readonly name: string;
  readonly repeatable: boolean;
  readonly giveUpFirst: boolean;
  readonly payFirst?: boolean;
}

const SCENARIOS: readonly Scenario[] = [
  { name: 'a paid call', repeatable: false, giveUpFirst: false },
  { name: 'a repeatable call', repeatable: true, giveUpFirst: false },
  { name: 'a call with a hold before it is queued', repeatable: false, giveUpFirst: false, payFirst: true },
  { name: 'a call that a worker gives up before it starts', repeatable: false, giveUpFirst: true },
];

/** A worker that finishes every leased job. It stores its intent before each call. */
async function work(
  world: JobWorld,
  upstream: Upstream,
  { giveUpFirst }: { readonly giveUpFirst: boolean },
): Promise<void> {
  const { taken, lease: name } = await leaseJobs(world.deps, 'gateway', 10);
  for (const { job } of taken) {
    const lease = { jobId: job.id, lease: name };
    await startJob(world.deps, lease);
    if (giveUpFirst) {
      await returnJob(world.deps, lease, { untouched: true, delayMs: 0 });
      continue;
    }
    await upstream.call();
    await finishJob(world.deps, lease, { answer: anAnswer() });
  }
}

/** The whole scenario of one process: accept, sweep, work. */
async function live(world: JobWorld, upstream: Upstream, scenario: Scenario): Promise<void> {
  const counted = recorded('upstream', upstream, world.journal);
  const { job, lease } = await world.create({
    ...KEYED,
    repeatable: scenario.repeatable,
    ...(scenario.payFirst === true ? { worker: 'gateway' } : {}),
  });
  if (lease !== undefined) await returnJob(world.deps, { jobId: job.id, lease }, { untouched: true, delayMs: 0 });
  await work(world, counted, scenario);
  await work(world, counted, { giveUpFirst: false });
}

async function stepsOf(scenario: Scenario): Promise<readonly string[]> {
  const world = await open();
  await live(world, anUpstream(), scenario);
  return world.journal.names();
}

describe.each(SCENARIOS)('a process death with $name', (scenario) => {
  test.each<Moment>(['before', 'after'])(
    '%s any step loses no accepted job, and pays for none twice',
    async (moment) => {
      const steps = await stepsOf(scenario);
      expect(steps.length).toBeGreaterThan(6);
      expect(steps.length).toBeLessThan(STEPS_MAX);

      for (let step = 1; step <= steps.length; step += 1) {
        const dying = await open();
        const upstream = anUpstream();
        const death = dieAt(dying.journal, step, moment);
        void live(dying, upstream, scenario);
        await death;
        const world = await dying.restart();
        const at = `${moment} step ${step} (${steps[step - 1] ?? ''})`;
        const accepted = await world.deps.jobs.findKey('acme', 'k', world.clock.now());

        await world.clock.advance(LIMITS.leaseMs);
        await sweepJobs(world.deps, 0);
        // the client that got no answer repeats its call with its key, and has one job in the end
        const { job, replayed } = await world.create({ ...KEYED, repeatable: scenario.repeatable });
        expect({ at, replayed }).toEqual({ at, replayed: accepted !== undefined });
        await work(world, upstream, { giveUpFirst: false });

        const ended = (await world.deps.jobs.findJob(job.id))!;
        expect({ at, terminal: isTerminal(ended.state) }).toEqual({ at, terminal: true });
        expect({ at, calls: upstream.calls <= (scenario.repeatable ? 2 : 1) }).toEqual({ at, calls: true });
        // a completed job was called, and a job with an unknown outcome waits for a decision
        if (ended.state === 'completed') expect({ at, called: upstream.calls > 0 }).toEqual({ at, called: true });
        const waiting = (await world.tasks.listOpenAttention()).map(({ taskId, reason }) => `${taskId} ${reason}`);
        expect({ at, waiting }).toEqual({
          at,
          waiting: ended.failure?.code === 'outcome_unknown' ? [`${job.id} unknown_outcome`] : [],
        });
        if (scenario.repeatable) expect({ at, state: ended.state }).toEqual({ at, state: 'completed' });
        expect(
          await Promise.all(['jobs:token:token_1', 'jobs:total'].map((scope) => world.tasks.inFlight(scope))),
        ).toEqual([0, 0]);
      }
    },
  );
});

describe('a process death during a sweep', () => {
  test.each<Moment>(['before', 'after'])('%s any step leaves the rest to the next sweep', async (moment) => {
    for (let step = 1; step <= 4; step += 1) {
      const first = await open();
      const upstream = anUpstream();
      await first.create();
      const { taken, lease } = await leaseJobs(first.deps, 'gateway', 10);
      await startJob(first.deps, { jobId: taken[0]!.job.id, lease });
      await first.clock.advance(LIMITS.leaseMs);
      const dying = await first.restart();
      const death = dieAt(dying.journal, step, moment);
      void sweepJobs(dying.deps, 0)
        .then(() => sweepJobs(dying.deps, 0))
        .then(() => sweepJobs(dying.deps, 0));
      await death;

      const world = await dying.restart();
      await sweepJobs(world.deps, 0);
      await work(world, upstream, { giveUpFirst: false });

      expect([step, upstream.calls]).toEqual([step, 0]);
      expect(await world.deps.jobs.findJob(taken[0]!.job.id)).toMatchObject({
        state: 'failed',
        failure: { code: 'outcome_unknown' },
      });
      expect(await world.tasks.listOpenAttention()).toHaveLength(1);
      expect(await world.tasks.inFlight('jobs:total')).toBe(0);
    }
  });
});
