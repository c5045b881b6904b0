import path from 'node:path';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Sql } from '@reelgate/platform/sql/sql';
import { describeOnBothEngines } from '@reelgate/platform/testing/both-engines';
import type { OpenDatabase } from '@reelgate/platform/testing/both-engines';
import { dumpTables } from '@reelgate/platform/testing/dump-tables';
import type { TableDump } from '@reelgate/platform/testing/dump-tables';
import {
  SEQUENCES_TIMEOUT_MS,
  checkSequences,
  describeOutcome,
  drawSequence,
  newStory,
} from '@reelgate/platform/testing/sequences';
import type { Outcome, Story } from '@reelgate/platform/testing/sequences';
import { JOB_IDS, drawJobStep, drawLockingJobStep } from '../../../testing/jobs/model/job-steps.ts';
import type { JobStep } from '../../../testing/jobs/model/job-steps.ts';
import { modelJobStore, newJobsState } from '../../../testing/jobs/model/model-job-store.ts';
import type { JobsState, ModelledJobs } from '../../../testing/jobs/model/model-job-store.ts';
import { bindStep, countIds, runBound } from '../../../testing/store/model/drawn-calls.ts';
import type { Processes } from '../../../testing/store/model/drawn-calls.ts';
import { sqlJobs } from './sql-jobs.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../../../migrations');
const START = Date.UTC(2026, 0, 1);
const NO_SHARDS = 1;
const STEPS_MAX = 100;
/** The ids of entries tell the order in which two processes drew them, and nothing else. */
const WITHOUT_ENTRY_IDS = { without: { task_events: ['id'], events: ['id'] } };

interface Opened {
  readonly stores: Processes<ModelledJobs>;
  readonly sql: Sql;
}

function openProcesses(open: OpenDatabase, shardsMax: number): Opened {
  const [sql, other] = [open(), open()];
  return { stores: [sqlJobs(sql, countIds('a'), shardsMax), sqlJobs(other, countIds('b'), shardsMax)], sql };
}

function openModel(): { readonly state: JobsState; readonly stores: Processes<ModelledJobs> } {
  const state = newJobsState();
  return { state, stores: [modelJobStore(state), modelJobStore(state)] };
}

async function readAll(store: ModelledJobs): Promise<unknown> {
  const jobs = [];
  for (const id of JOB_IDS) jobs.push(await store.findJob(id));
  return { jobs, all: await store.listJobs({}, { limit: 100 }) };
}

async function readEvents(sql: Sql): Promise<readonly string[]> {
  const rows = await sql.read('SELECT account_id, type, subject_id, created_at FROM events');
  return rows.map((row) => Object.values(row).map(String).join(' ')).toSorted();
}

describeOnBothEngines('drawn sequences of the job store', MIGRATIONS, (engines) => {
  test(
    'have the answers of the model on each engine, and leave the same rows',
    async () => {
      const sequence = fc.tuple(drawSequence(drawJobStep, STEPS_MAX), fc.constantFrom(NO_SHARDS, 4));
      await checkSequences(sequence, ([steps, shardsMax]) =>
        engines().sqlite.withDatabase((openSqlite) =>
          engines().postgres.withDatabase(async (openPostgres) => {
            const story = newStory();
            const model = openModel();
            const sqlite = openProcesses(openSqlite, shardsMax);
            const postgres = openProcesses(openPostgres, shardsMax);
            let at = START;
            for (const step of steps) {
              at += step.afterMs;
              const bound = bindStep(step, model.state, at);
              if (bound === undefined) continue;
              const expected = await runBound(bound, model.stores);
              story.tell(`${at - START} ms, process ${step.by}: ${bound.name} -> ${describeOutcome(expected)}`);
              const seen = [await runBound(bound, sqlite.stores), await runBound(bound, postgres.stores)];
              story.check(() => {
                expect({ SQLite: seen[0], PostgreSQL: seen[1] }).toEqual({ SQLite: expected, PostgreSQL: expected });
              });
            }
            const expected = await readAll(model.stores[0]);
            const seen = [await readAll(sqlite.stores[0]), await readAll(postgres.stores[0])];
            const events = [await readEvents(sqlite.sql), await readEvents(postgres.sql)];
            const rows = [await dumpTables(sqlite.sql), await dumpTables(postgres.sql)];
            story.check(() => {
              expect({ SQLite: seen[0], PostgreSQL: seen[1] }).toEqual({ SQLite: expected, PostgreSQL: expected });
              expect(events).toEqual([model.state.events.toSorted(), model.state.events.toSorted()]);
              expect(rows[1]).toEqual(rows[0]);
            });
          }),
        ),
      );
    },
    SEQUENCES_TIMEOUT_MS,
  );

  test(
    'of which two calls run at once have the answers and rows of one call after the other',
    async () => {
      const sequence = fc.tuple(drawSequence(drawJobStep, STEPS_MAX), drawLockingJobStep, drawLockingJobStep);
      await checkSequences(sequence, async ([steps, one, other]) => {
        const story = newStory();
        const run = (engine: 'sqlite' | 'postgres', inOrder: RunPair): Promise<PairResult | undefined> =>
          engines()[engine].withDatabase(async (open) => {
            const { stores, sql } = openProcesses(open, NO_SHARDS);
            const { state, at } = await runPrefix(steps, stores, engine === 'postgres' ? story : newStory());
            const first = bindStep({ ...one, by: 0 }, state, at + 1);
            // no two jobs have one id
            const begun = [...state.begun, first?.begins ?? ''];
            const second = bindStep({ ...other, by: 1 }, { ...state, begun }, at + 1);
            if (first === undefined || second === undefined) return undefined;
            if (engine === 'postgres') story.tell(`at once: ${first.name} | ${second.name}`);
            const outcomes = await inOrder(
              () => runBound(first, stores),
              () => runBound(second, stores),
            );
            return { outcomes, rows: await dumpTables(sql, WITHOUT_ENTRY_IDS) };
          });
        const together = await run('postgres', (a, b) => Promise.all([a(), b()]));
        if (together === undefined) return;
        const serial = [
          await run('sqlite', async (a, b) => [await a(), await b()]),
          await run('sqlite', async (a, b) => [await b(), await a()].toReversed()),
        ];
        story.check(() => {
          expect(serial).toContainEqual(together);
        });
      });
    },
    SEQUENCES_TIMEOUT_MS,
  );
});

type RunPair = (first: () => Promise<Outcome>, second: () => Promise<Outcome>) => Promise<readonly Outcome[]>;

interface PairResult {
  readonly outcomes: readonly Outcome[];
  readonly rows: TableDump;
}

/** Runs the allowed steps on the model and on the stores. Returns the content of the model and the time after them. */
async function runPrefix(
  steps: readonly JobStep[],
  stores: Processes<ModelledJobs>,
  story: Story,
): Promise<{ state: JobsState; at: number }> {
  const model = openModel();
  let at = START;
  for (const step of steps) {
    at += step.afterMs;
    const bound = bindStep(step, model.state, at);
    if (bound === undefined) continue;
    await runBound(bound, model.stores);
    await runBound(bound, stores);
    story.tell(`${at - START} ms, process ${step.by}: ${bound.name}`);
  }
  return { state: model.state, at };
}
