import { describe, expect, test } from '@jest/globals';
import { BATCH_LIMITS, aCallLine, aLine, useBatchWorlds } from '../../../testing/batches/batch-world.ts';
import type { BatchWorld } from '../../../testing/batches/batch-world.ts';
import { dieAt } from '../../../testing/process-death.ts';
import type { Batch } from '../../domain/batch.ts';
import type { NewBatchLine } from '../../store/batch-store.ts';
import { JOBS_TOTAL_SCOPE } from '../../domain/in-flight-scope.ts';
import { newProcessLiveness } from '../../workers/process-liveness.ts';
import { cancelBatch } from './create-batch.ts';

const open = useBatchWorlds();
const STEPS_MIN = 15;
const STEPS_MAX = 50;
const ROUNDS_MAX = 12;
const HOUR_MS = 3_600_000;
const KEY = { idempotency: { key: 'k', fingerprint: 'f' } };
const FAULTY: NewBatchLine = {
  number: 4,
  customId: 'bad',
  body: { fault: { code: 'invalid_request', message: 'seconds must be a number' } },
};
const LINES = [aLine(1), aLine(2, { duration: 99 }), aLine(3), FAULTY];
const CALLS = [aCallLine(1), aCallLine(2), FAULTY];
/** The lines that can have a task or a job. */
const VALID = 2;

interface Scenario {
  readonly name: string;
  readonly lines: readonly NewBatchLine[];
  /** Runs after the first pass over the lines. */
  readonly interrupt: (world: BatchWorld, batch: Batch) => Promise<void>;
  readonly outcomes: readonly string[];
}

const SCENARIOS: readonly Scenario[] = [
  { name: 'a batch that completes', lines: LINES, interrupt: async () => undefined, outcomes: ['completed'] },
  {
    name: 'a batch of calls that completes',
    lines: CALLS,
    interrupt: async () => undefined,
    outcomes: ['completed'],
  },
  {
    name: 'a batch of calls that is cancelled',
    lines: CALLS,
    interrupt: async ({ batches }, batch) => {
      await cancelBatch(batches, 'acme', batch.id).catch(() => undefined);
    },
    outcomes: ['cancelled', 'completed'],
  },
  {
    name: 'a batch that is cancelled',
    lines: LINES,
    interrupt: async ({ batches }, batch) => {
      await cancelBatch(batches, 'acme', batch.id).catch(() => undefined);
    },
    outcomes: ['cancelled', 'completed'],
  },
  {
    name: 'a batch that expires',
    lines: LINES,
    interrupt: async ({ clock }) => {
      await clock.advance(24 * HOUR_MS);
    },
    outcomes: ['expired', 'completed'],
  },
];

/** What a client, the workers of the gateway and the passes do until the batch has ended. */
async function live(world: BatchWorld, scenario: Scenario): Promise<Batch> {
  const [known] = await world.batches.batches.listBatches('acme', { limit: 1 });
  const batch = known ?? (await world.submit(KEY)).batch;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    await world.read(scenario.lines);
    await world.run();
    if (round === 0) await scenario.interrupt(world, batch);
    await world.clock.advance(BATCH_LIMITS.leaseMs);
    await world.run();
    await world.completeTasks();
    await world.makeCalls();
    await world.write();
    const now = await world.batches.batches.findBatch(batch.id);
    if (now?.phase === 'ended') return now;
  }
  throw new Error('the batch does not end');
}

/** A death at a call that only reads is a death after the call before it. */
const READS = /\.(find|list|lease|end(Late|Lines))\w*$/;

/** The numbers of the calls that change something. */
async function listSteps(scenario: Scenario): Promise<readonly number[]> {
  const world = await open({ limits: { inFlight: 1 } });
  await live(world, scenario);
  return world.journal.names().flatMap((name, index) => (READS.test(name) ? [] : [index + 1]));
}

interface LineRow {
  readonly state: string;
  readonly task_id: string | null;
}

/** Each line has ended once, and the counters say what the lines say. */
async function assertKept(world: BatchWorld, scenario: Scenario, batch: Batch, at: string): Promise<void> {
  const { deps, sql, upstream } = world;
  const rows = (await sql.read('SELECT state, task_id FROM batch_lines WHERE batch_id = $1', [
    batch.id,
  ])) as unknown as LineRow[];
  const works = [
    ...(await deps.store.list({ accountId: 'acme' }, { limit: 100 })),
    ...(await world.batches.jobs.jobs.listJobs({ accountId: 'acme' }, { limit: 100 })),
  ];
  const fact = (what: unknown): unknown => ({ at, what });
  expect(fact(scenario.outcomes.includes(batch.outcome ?? ''))).toEqual(fact(true));
  expect(fact(rows.map(({ state }) => state).filter((state) => !/^(completed|failed|refused)$/.test(state)))).toEqual(
    fact([]),
  );
  const inState = (state: string): number => rows.filter((row) => row.state === state).length;
  expect(fact([batch.total, batch.completed, batch.failed])).toEqual(
    fact([rows.length, inState('completed'), inState('failed') + inState('refused')]),
  );
  // every task and every job belongs to a line, and no two to one
  const named = rows.flatMap(({ task_id: id }) => (id === null ? [] : [id]));
  expect(fact(named.toSorted())).toEqual(fact(works.map(({ id }) => id).toSorted()));
  expect(fact(upstream.submitted.length <= VALID)).toEqual(fact(true));
  if (batch.outcome === 'completed')
    expect(fact([rows.length, works.length])).toEqual(fact([scenario.lines.length, VALID]));
  for (const scope of ['total', JOBS_TOTAL_SCOPE]) expect(fact(await deps.store.inFlight(scope))).toEqual(fact(0));
}

describe.each(SCENARIOS)('a process death with $name', (scenario) => {
  // a death before a step is a death after the one before it
  test('after any step loses no line, and makes none twice', async () => {
    const steps = await listSteps(scenario);
    expect(steps.length).toBeGreaterThan(STEPS_MIN);
    expect(steps.length).toBeLessThan(STEPS_MAX);

    for (const step of steps) {
      const dying = await open({ limits: { inFlight: 1 } });
      const death = dieAt(dying.journal, step, 'after');
      void live(dying, scenario);
      await death;
      const world = await dying.restart();
      await newProcessLiveness(world.deps, true).recoverAtStart();
      await world.clock.advance(BATCH_LIMITS.leaseMs);

      const ended = await live(world, scenario);
      await assertKept(world, scenario, ended, `after step ${step} (${dying.journal.names()[step - 1] ?? ''})`);
    }
  });
});
