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
import type { Outcome } from '@reelgate/platform/testing/sequences';
import { bindStep, countIds, runBound, sortList } from '../../../testing/store/model/drawn-calls.ts';
import type { Processes } from '../../../testing/store/model/drawn-calls.ts';
import { newModelState } from '../../../testing/store/model/model-state.ts';
import type { ModelState } from '../../../testing/store/model/model-state.ts';
import { modelTaskStore } from '../../../testing/store/model/model-task-store.ts';
import type { ModelledStore } from '../../../testing/store/model/model-task-store.ts';
import { SCOPES, TASK_IDS, drawLockingStep, drawTaskStep } from '../../../testing/store/model/task-steps.ts';
import type { TaskStep } from '../../../testing/store/model/task-steps.ts';
import { sqlTaskStore } from './sql-task-store.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../../../migrations');
const START = Date.UTC(2026, 0, 1);
/** Later than any time of a sequence. */
const FAR = START * 2;
const NO_SHARDS = 1;
const STEPS_MAX = 150;
/** The ids of entries tell the order in which two processes drew them, and nothing else. */
const WITHOUT_ENTRY_IDS = { without: { task_events: ['id'], events: ['id'], operator_acts: ['id'] } };

type TaskProcesses = Processes<ModelledStore>;

function openProcesses(open: OpenDatabase, shardsMax: number): { stores: TaskProcesses; sql: Sql } {
  const [sql, other] = [open(), open()];
  return { stores: [openStore(sql, 'a', shardsMax), openStore(other, 'b', shardsMax)], sql };
}

function openStore(sql: Sql, process: string, shardsMax: number): ModelledStore {
  const newId = countIds(process);
  return sqlTaskStore(sql, newId, (_task, { state }) => ({ type: 'finished', payload: state }), shardsMax);
}

/** What the port shows of everything that the steps may have written. */
async function readAll(store: ModelledStore): Promise<unknown> {
  const tasks = [];
  for (const id of TASK_IDS)
    tasks.push([await store.find(id), await store.attempts(id), sortList(await store.events(id))]);
  const counters = [];
  for (const scope of SCOPES) counters.push([scope, await store.inFlight(scope)]);
  return {
    tasks,
    counters,
    attention: await store.listOpenAttention(),
    processes: await store.heartbeats(),
    unsettled: sortList(await store.listUnsettled({ before: FAR, beyond: FAR, limit: 100 })),
    overdue: sortList(await store.listOverdue(100)),
  };
}

/** What the store has written for others: each end and each decision once. */
async function readAnnounced(sql: Sql): Promise<Pick<ModelState, 'outbox' | 'events' | 'acts'>> {
  const say = async (text: string): Promise<string[]> =>
    (await sql.read(text)).map((row) => Object.values(row).map(String).join(' ')).toSorted();
  return {
    outbox: await say('SELECT id FROM outbox'),
    events: await say('SELECT account_id, type, subject_id, created_at FROM events'),
    acts: await say('SELECT actor, action, subject, detail_json, reason, at FROM operator_acts'),
  };
}

function announcedBy({ outbox, events, acts }: ModelState): Pick<ModelState, 'outbox' | 'events' | 'acts'> {
  return { outbox: outbox.toSorted(), events: events.toSorted(), acts: acts.toSorted() };
}

describeOnBothEngines('drawn sequences of the task store', MIGRATIONS, (engines) => {
  test(
    'have the answers of the model on each engine, and leave the same rows',
    async () => {
      const sequence = fc.tuple(drawSequence(drawTaskStep, STEPS_MAX), fc.constantFrom(NO_SHARDS, 4));
      await checkSequences(sequence, ([steps, shardsMax]) =>
        engines().sqlite.withDatabase((openSqlite) =>
          engines().postgres.withDatabase(async (openPostgres) => {
            const story = newStory();
            const state = newModelState();
            const model: TaskProcesses = [modelTaskStore(state), modelTaskStore(state)];
            const sqlite = openProcesses(openSqlite, shardsMax);
            const postgres = openProcesses(openPostgres, shardsMax);
            let at = START;
            for (const step of steps) {
              at += step.afterMs;
              const bound = bindStep(step, state, at);
              if (bound === undefined) continue;
              const expected = await runBound(bound, model);
              story.tell(`${at - START} ms, process ${step.by}: ${bound.name} -> ${describeOutcome(expected)}`);
              const onSqlite = await runBound(bound, sqlite.stores);
              const onPostgres = await runBound(bound, postgres.stores);
              story.check(() => {
                expect({ SQLite: onSqlite, PostgreSQL: onPostgres }).toEqual({
                  SQLite: expected,
                  PostgreSQL: expected,
                });
              });
            }
            const expected = await readAll(model[0]);
            const seen = { SQLite: await readAll(sqlite.stores[0]), PostgreSQL: await readAll(postgres.stores[0]) };
            const announced = [await readAnnounced(sqlite.sql), await readAnnounced(postgres.sql)];
            const rows = [await dumpTables(sqlite.sql), await dumpTables(postgres.sql)];
            story.check(() => {
              expect(seen).toEqual({ SQLite: expected, PostgreSQL: expected });
              expect(announced).toEqual([announcedBy(state), announcedBy(state)]);
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
      const sequence = fc.tuple(drawSequence(drawTaskStep, STEPS_MAX), drawLockingStep, drawLockingStep);
      await checkSequences(sequence, async ([steps, one, other]) => {
        const story = newStory();
        const run = (engine: 'sqlite' | 'postgres', inOrder: RunPair): Promise<PairResult | undefined> =>
          engines()[engine].withDatabase(async (open) => {
            const { stores, sql } = openProcesses(open, NO_SHARDS);
            const before = await runPrefix(steps, stores, engine === 'postgres' ? story : newStory());
            const first = bindStep({ ...one, by: 0 }, before.state, before.at + 1);
            // no two tasks have one id
            const begun = [...before.state.begun, first?.begins ?? ''];
            const second = bindStep({ ...other, by: 1 }, { ...before.state, begun }, before.at + 1);
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
  steps: readonly TaskStep[],
  stores: TaskProcesses,
  story: { tell(line: string): void },
): Promise<{ state: ModelState; at: number }> {
  const state = newModelState();
  const model: TaskProcesses = [modelTaskStore(state), modelTaskStore(state)];
  let at = START;
  for (const step of steps) {
    at += step.afterMs;
    const bound = bindStep(step, state, at);
    if (bound === undefined) continue;
    await runBound(bound, model);
    await runBound(bound, stores);
    story.tell(`${at - START} ms, process ${step.by}: ${bound.name}`);
  }
  return { state, at };
}
