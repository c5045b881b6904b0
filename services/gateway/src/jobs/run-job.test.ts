import { describe, expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { aJobFixture, answers, refuses } from '../../testing/a-job-fixture.ts';
import type { JobFixture, Upstream } from '../../testing/a-job-fixture.ts';
import { runJob } from './run-job.ts';
import type { DueJob, RunJobDeps } from './run-job.ts';

const never = (): AbortSignal => new AbortController().signal;
const options = (over: Partial<Parameters<typeof runJob>[2]> = {}) => ({
  signal: never(),
  stopping: never(),
  keepMs: 1000,
  ...over,
});
/** The calls to the tasks service, without the create. */
const told = ({ tasks }: JobFixture): string[] => tasks.calls.slice(1).map((call) => call.replace(/ job_\w+/, ''));

const asItIs = (): void => undefined;

async function made(upstream: Upstream, prepare: (world: JobFixture) => void = asItIs): Promise<JobFixture> {
  const world = aJobFixture();
  world.relay.upstream = upstream;
  prepare(world);
  await runJob(world.deps, await world.leased(), options());
  return world;
}

describe('a run of a job', () => {
  const broken: Upstream = async (sink) => {
    sink.begin(200, {});
    sink.broken();
    return { status: 200, how: 'broken', usage: undefined };
  };
  const refusedHold =
    (kind: Problem['kind'], reason: string) =>
    (world: JobFixture): void => {
      world.relay.holdRefusal = new Problem({ kind, reason, message: 'no' });
    };

  test.each<[string, Upstream, readonly string[], string | undefined, number, (world: JobFixture) => void]>([
    ['is answered', answers(200, '{}'), ['markJobStarted', 'finishJob'], undefined, 0, asItIs],
    [
      'is answered with an error',
      answers(400, '{"error":{"message":"bad","code":"bad_request"}}'),
      ['markJobStarted', 'finishJob'],
      'bad_request',
      0,
      asItIs,
    ],
    ['is broken off', broken, ['markJobStarted', 'finishJob'], 'upstream_failed', 0, asItIs],
    [
      'may have done the work',
      refuses('unavailable', 'upstream_timeout'),
      ['markJobStarted', 'finishJob'],
      'upstream_timeout',
      0,
      asItIs,
    ],
    [
      'finds every channel full',
      refuses('exhausted', 'rate_limit_exceeded', 7000),
      ['markJobStarted', 'returnJob untouched 7000'],
      undefined,
      0,
      asItIs,
    ],
    [
      'finds every channel full for long',
      refuses('exhausted', 'rate_limit_exceeded', 900_000),
      ['markJobStarted', 'returnJob untouched 60000'],
      undefined,
      0,
      asItIs,
    ],
    [
      'reaches no upstream',
      refuses('unavailable', 'no_channel_available'),
      ['markJobStarted', 'returnJob untouched 5000'],
      undefined,
      0,
      asItIs,
    ],
    [
      'hits a bug',
      async () => {
        throw new TypeError('oops');
      },
      ['markJobStarted', 'returnJob unknown 0'],
      undefined,
      0,
      asItIs,
    ],
    [
      'has no balance for its hold',
      answers(200, '{}'),
      ['finishJob'],
      'insufficient_quota',
      1,
      refusedHold('exhausted', 'insufficient_quota'),
    ],
    [
      'has a model that no longer exists',
      answers(200, '{}'),
      ['finishJob'],
      'model_not_found',
      1,
      refusedHold('not_found', 'model_not_found'),
    ],
    [
      'finds billing unavailable',
      answers(200, '{}'),
      ['returnJob untouched 5000'],
      undefined,
      0,
      refusedHold('unavailable', 'service_unavailable'),
    ],
  ])('that %s records its outcome', async (_what, upstream, calls, code, released, prepare) => {
    const world = await made(upstream, prepare);

    expect(told(world)).toEqual(calls);
    expect(world.tasks.single().end?.failure?.code).toBe(code);
    expect(world.relay.released).toHaveLength(released);
  });

  test('makes no call if the intent cannot be recorded', async () => {
    const world = await made(answers(200, '{}'), ({ tasks }) => {
      tasks.fail('markJobStarted');
    });

    expect(world.relay.reached).toBe(0);
    expect(told(world)).toEqual(['markJobStarted', 'returnJob untouched 0']);
  });

  test('makes no call under an expired lease', async () => {
    const world = aJobFixture();
    const job = await world.leased();
    world.tasks.lost.add(job.lease.jobId);
    await runJob(world.deps, job, options());

    expect(world.relay.reached).toBe(0);
    expect(world.tasks.single()).toMatchObject({ state: TaskState.QUEUED, starts: 0 });
  });

  test('does not begin while the process stops, and is aborted when the process must end', async () => {
    const world = aJobFixture();
    await runJob(world.deps, await world.leased(), options({ stopping: AbortSignal.abort() }));
    expect([told(world), world.relay.reached]).toEqual([['returnJob untouched 0'], 0]);

    const over = new AbortController();
    const second = aJobFixture();
    second.relay.upstream = async (_sink, gone) => {
      over.abort();
      expect(gone.aborted).toBe(true);
      return { status: 0, how: 'gone', usage: undefined };
    };
    await runJob(second.deps, await second.leased(), options({ signal: over.signal }));
    expect(told(second)).toEqual(['markJobStarted', 'returnJob unknown 0']);
  });

  test('ends a job that waited too long, or whose request is no longer stored, and releases its hold', async () => {
    const world = aJobFixture();
    const job = { ...(await world.leased()), overdue: true };
    await runJob(world.deps, job, options());
    expect([told(world), world.tasks.single().end?.failure?.code, world.relay.released]).toEqual([
      ['finishJob'],
      'expired',
      [job.callId],
    ]);

    const second = aJobFixture();
    const gone = await second.leased();
    await runJob(
      second.deps,
      { ...gone, call: { ...gone.call, body: { case: 'object', value: 'prv_gone' } } },
      options(),
    );
    expect([second.tasks.single().end?.failure?.code, second.relay.reached, second.relay.released]).toEqual([
      'internal_error',
      0,
      [gone.callId],
    ]);
  });

  test('sends the request unchanged, with the access rights of its creation', async () => {
    const world = aJobFixture();
    const seen: unknown[] = [];
    const body = Buffer.from('{"model":"some-model",  "n":1}');
    const relay = {
      ...world.deps.relay,
      call: async (...args: Parameters<RunJobDeps['relay']['call']>) => {
        seen.push(args[0]);
        return world.relay.relay.call(...args);
      },
    };
    await runJob({ ...world.deps, relay }, await world.leased(body), options());

    expect(seen).toMatchObject([
      {
        path: '/v1/chat/completions',
        search: '?a=1',
        headers: ['Content-Type', 'application/json'],
        body,
        model: 'some-model',
        principal: { accountId: 'demo', tokenId: 'token_1', models: ['*'] },
      },
    ]);
  });

  test('whose end is not accepted at once writes it again, and does not call again', async () => {
    const world = aJobFixture();
    world.tasks.fail('finishJob', 3);
    const running = runJob(world.deps, await world.leased(), options());
    for (let step = 0; step < 10; step += 1) await world.clock.advance(500);
    await running;

    expect(world.tasks.calls.filter((call) => call.startsWith('finishJob'))).toHaveLength(4);
    expect([world.relay.reached, world.tasks.single().state]).toEqual([1, TaskState.COMPLETED]);
  });

  test('whose end is never accepted leaves the job to its lease', async () => {
    const world = aJobFixture();
    world.tasks.fail('finishJob', 1000);
    const running = runJob(world.deps, await world.leased(), options());
    for (let step = 0; step < 100; step += 1) await world.clock.advance(500);
    await running;

    expect([world.relay.reached, world.tasks.single().state]).toEqual([1, TaskState.IN_PROGRESS]);
  });
});

/** Counts every call of a port as a step. A dead process makes no further call and receives no further answer. */
function mortal(
  deps: RunJobDeps,
  step: number,
  moment: 'before' | 'after',
): { readonly deps: RunJobDeps; readonly dead: Promise<unknown>; readonly steps: () => number } {
  const { promise: dead, resolve } = Promise.withResolvers<undefined>();
  const forever = new Promise<never>(() => undefined);
  let made = 0;
  const wrap = <T extends object>(port: T): T =>
    new Proxy(port, {
      get: (target, name): unknown => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function' || name === 'release') return value;
        return async (...args: unknown[]): Promise<unknown> => {
          made += 1;
          if (made > step) return forever;
          if (made < step) return (value as (...all: unknown[]) => unknown).apply(target, args);
          if (moment === 'after')
            await Promise.race([
              Promise.resolve((value as (...all: unknown[]) => unknown).apply(target, args)).catch(() => undefined),
              new Promise((over) => setImmediate(over)),
            ]);
          setImmediate(() => {
            resolve(undefined);
          });
          return forever;
        };
      },
    });
  return {
    dead,
    steps: () => made,
    deps: { ...deps, jobs: wrap(deps.jobs), media: wrap(deps.media), relay: wrap(deps.relay) },
  };
}

describe('a process that dies while it makes a call', () => {
  const large = answers(200, Buffer.alloc(100_000, 1), 'audio/mpeg');

  test.each(['before', 'after'] as const)(
    '%s any step charges the call at most once, and loses no call that was not begun',
    async (moment) => {
      const whole = mortal(aJobFixture().deps, Infinity, moment);
      const first = aJobFixture();
      first.relay.upstream = large;
      const counted = mortal(first.deps, Infinity, moment);
      await runJob(counted.deps, await first.leased(), options());
      expect(counted.steps()).toBeGreaterThan(2);
      expect(whole.steps()).toBe(0);

      for (let step = 1; step <= counted.steps(); step += 1) {
        const world = aJobFixture();
        world.relay.upstream = large;
        const dying = mortal(world.deps, step, moment);
        void runJob(dying.deps, await world.leased(), options());
        await dying.dead;

        // the tasks service keeps a job that was begun, and gives any other to the next worker
        const job = world.tasks.single();
        if (job.state === TaskState.QUEUED) {
          job.lease = '';
          const { jobs } = await world.deps.jobs.leaseJobs({ worker: 'gateway', limit: 1 });
          await runJob(world.deps, jobs[0] as DueJob, options());
          expect({ step, moment, state: job.state }).toEqual({ step, moment, state: TaskState.COMPLETED });
        }
        expect({ step, moment, reached: world.relay.reached <= 1 }).toEqual({ step, moment, reached: true });
        if (world.relay.reached > 0) expect({ step, moment, starts: job.starts }).toEqual({ step, moment, starts: 1 });
      }
    },
  );
});
