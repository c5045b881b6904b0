import { isDeepStrictEqual } from 'node:util';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import type { Sql } from '@reelgate/platform/sql/sql';
import type { BothEngines, OpenDatabase } from '@reelgate/platform/testing/both-engines';
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
import { bindStep, runBound } from './drawn-calls.ts';
import type { BoundCall, Detour, DrawnStep, Processes } from './drawn-calls.ts';

export const START = Date.UTC(2026, 0, 1);
const NO_SHARDS = 1;
const SOME_SHARDS = 4;
/**
 * The ids of entries tell the order in which two processes drew them, and nothing else. Which tokens are marked as at
 * their limits depends on the accounts that a claim met, because it passes over locked ones. A sweep ends the marks.
 */
const WITHOUT_ORDER = {
  without: {
    ...{ task_events: ['id'], events: ['id'], operator_acts: ['id'] },
    ...{ queue_accounts: ['ready'], queue_tokens: ['ready'] },
  },
};

/** The content of a model, with the ids of all rows that were ever written. */
interface DrawnContent {
  readonly begun: readonly string[];
}

/** A port of this service, its model, and the calls that are drawn for both. */
export interface DrawnSubject<State extends DrawnContent, Store> {
  readonly stepsMax: number;
  readonly newState: () => State;
  readonly openModel: (state: State, process: string) => Store;
  /** Opens the port as a process does. */
  readonly open: (sql: Sql, process: string, shardsMax: number) => Store;
  readonly step: Arbitrary<DrawnStep<State, Store>>;
  /** Two calls of which one waits for the locks of the other. */
  readonly lockingSteps: Arbitrary<readonly [DrawnStep<State, Store>, DrawnStep<State, Store>]>;
  /** What the port shows of everything that the steps may have written. */
  readonly readAll: (store: Store) => Promise<unknown>;
  /** What was written for others, and the same by the model. */
  readonly readAnnounced: (sql: Sql) => Promise<unknown>;
  readonly announcedBy: (state: State) => unknown;
}

/** The tests of a port with drawn sequences of calls. */
export function drawnSequencesSuite<State extends DrawnContent, Store>(
  engines: () => BothEngines,
  subject: DrawnSubject<State, Store>,
): void {
  test(
    'have the answers of the model on each engine, and leave the same rows',
    async () => {
      const sequence = fc.tuple(drawSequence(subject.step, subject.stepsMax), fc.constantFrom(NO_SHARDS, SOME_SHARDS));
      await checkSequences(sequence, ([steps, shardsMax]) => compareEngines(subject, engines(), steps, shardsMax));
    },
    SEQUENCES_TIMEOUT_MS,
  );

  test(
    'of which two calls run at once have the answers and rows of one call after the other',
    async () => {
      const sequence = fc.record({
        steps: drawSequence(subject.step, subject.stepsMax),
        pair: subject.lockingSteps,
      });
      await checkSequences(sequence, (drawn) => comparePair(subject, engines(), drawn));
    },
    SEQUENCES_TIMEOUT_MS,
  );
}

interface Opened<Store> {
  readonly stores: Processes<Store>;
  readonly sql: Sql;
}

function openProcesses<State extends DrawnContent, Store>(
  { open: openStore }: DrawnSubject<State, Store>,
  open: OpenDatabase,
  shardsMax: number,
): Opened<Store> {
  const [sql, other] = [open(), open()];
  return { stores: [openStore(sql, 'a', shardsMax), openStore(other, 'b', shardsMax)], sql };
}

function newModels<State extends DrawnContent, Store>(
  { openModel }: DrawnSubject<State, Store>,
  state: State,
): Processes<Store> {
  return [openModel(state, 'a'), openModel(state, 'b')];
}

async function compareEngines<State extends DrawnContent, Store>(
  subject: DrawnSubject<State, Store>,
  { sqlite, postgres }: BothEngines,
  steps: readonly DrawnStep<State, Store>[],
  shardsMax: number,
): Promise<void> {
  await sqlite.withDatabase((openSqlite) =>
    postgres.withDatabase(async (openPostgres) => {
      const story = newStory();
      const state = subject.newState();
      const models = newModels(subject, state);
      const onSqlite = openProcesses(subject, openSqlite, shardsMax);
      const onPostgres = openProcesses(subject, openPostgres, shardsMax);
      let at = START;
      for (const step of steps) {
        at += step.afterMs;
        const bound = bindStep(step, state, at);
        if (bound === undefined) continue;
        const expected = await runBound(bound, models);
        story.tell(`${at - START} ms, process ${step.by}: ${bound.name} -> ${describeOutcome(expected)}`);
        const seen = [await runBound(bound, onSqlite.stores), await runBound(bound, onPostgres.stores)];
        story.check(() => {
          expect({ SQLite: seen[0], PostgreSQL: seen[1] }).toEqual({ SQLite: expected, PostgreSQL: expected });
        });
      }
      const expected = { shown: await subject.readAll(models[0]), announced: subject.announcedBy(state) };
      const seen = { SQLite: await readContent(subject, onSqlite), PostgreSQL: await readContent(subject, onPostgres) };
      const rows = [await dumpTables(onSqlite.sql), await dumpTables(onPostgres.sql)];
      story.check(() => {
        expect(seen).toEqual({ SQLite: expected, PostgreSQL: expected });
        expect(rows[1]).toEqual(rows[0]);
      });
    }),
  );
}

async function readContent<State extends DrawnContent, Store>(
  { readAll, readAnnounced }: DrawnSubject<State, Store>,
  { stores, sql }: Opened<Store>,
): Promise<{ readonly shown: unknown; readonly announced: unknown }> {
  return { shown: await readAll(stores[0]), announced: await readAnnounced(sql) };
}

interface DrawnPair<State, Store> {
  readonly steps: readonly DrawnStep<State, Store>[];
  readonly pair: readonly [DrawnStep<State, Store>, DrawnStep<State, Store>];
}

type RunPair = (first: () => Promise<Outcome>, second: () => Promise<Outcome>) => Promise<readonly Outcome[]>;

/** The calls of a pair in one order after the other. */
const IN_ORDER: readonly RunPair[] = [
  async (first, second) => [await first(), await second()],
  async (first, second) => [await second(), await first()].toReversed(),
];

interface PairResult {
  readonly outcomes: readonly Outcome[];
  readonly rows: TableDump;
}

async function comparePair<State extends DrawnContent, Store>(
  subject: DrawnSubject<State, Store>,
  engines: BothEngines,
  { steps, pair: [one, other] }: DrawnPair<State, Store>,
): Promise<void> {
  const story = newStory();
  let detours: readonly PairDetour[] = [];
  const run = (engine: keyof BothEngines, inOrder: RunPair, detour: PairDetour = []): Promise<PairResult | undefined> =>
    engines[engine].withDatabase(async (open) => {
      const { stores, sql } = openProcesses(subject, open, NO_SHARDS);
      const { state, at } = await runPrefix(subject, steps, stores, engine === 'postgres' ? story : newStory());
      const first = bindStep({ ...one, by: 0 }, state, at + 1);
      // no two rows have one id
      const begun = [...state.begun, first?.begins ?? ''];
      const second = bindStep({ ...other, by: 1 }, { ...state, begun }, at + 1);
      if (first === undefined || second === undefined) return undefined;
      detours = listDetours(first, second);
      if (engine === 'postgres') story.tell(`at once: ${first.name} | ${second.name}`);
      const outcomes = await inOrder(
        () => runOnDetour(first, stores, sql, detour[0]),
        () => runOnDetour(second, stores, sql, detour[1]),
      );
      // copies, because the engines give their objects other prototypes
      return structuredClone({ outcomes, rows: await dumpTables(sql, WITHOUT_ORDER) });
    });
  const together = await run('postgres', (first, second) => Promise.all([first(), second()]));
  if (together === undefined) return;
  const serial: (PairResult | undefined)[] = [];
  for (const detour of [undefined, ...detours])
    for (const inOrder of IN_ORDER)
      // few pairs need more than the first two
      if (!serial.some((result) => isDeepStrictEqual(result, together)))
        serial.push(await run('sqlite', inOrder, detour));
  story.check(() => {
    if (serial.some((result) => isDeepStrictEqual(result, together))) return;
    // the difference from one order says more than all of them
    expect(together).toEqual(
      serial.find((result) => isDeepStrictEqual(result?.outcomes, together.outcomes)) ?? serial[0],
    );
  });
}

/** The detours of the two calls, of which one has one. */
type PairDetour = readonly [first?: Detour | undefined, second?: Detour];

function listDetours<Store>(first: BoundCall<Store>, second: BoundCall<Store>): readonly PairDetour[] {
  if (first.locksFlows !== true || second.locksFlows !== true) return [];
  return [
    ...(first.detours ?? []).map((detour): PairDetour => [detour]),
    ...(second.detours ?? []).map((detour): PairDetour => [undefined, detour]),
  ];
}

async function runOnDetour<Store>(
  bound: BoundCall<Store>,
  stores: Processes<Store>,
  sql: Sql,
  detour: Detour | undefined,
): Promise<Outcome> {
  if (detour === undefined) return runBound(bound, stores);
  await sql.write(detour.before);
  const outcome = await runBound(bound, stores);
  await sql.write(detour.after);
  return outcome;
}

/** Runs the allowed steps on the model and on the stores. Returns the content of the model and the time after them. */
async function runPrefix<State extends DrawnContent, Store>(
  subject: DrawnSubject<State, Store>,
  steps: readonly DrawnStep<State, Store>[],
  stores: Processes<Store>,
  story: Story,
): Promise<{ readonly state: State; readonly at: number }> {
  const state = subject.newState();
  const models = newModels(subject, state);
  let at = START;
  for (const step of steps) {
    at += step.afterMs;
    const bound = bindStep(step, state, at);
    if (bound === undefined) continue;
    await runBound(bound, models);
    await runBound(bound, stores);
    story.tell(`${at - START} ms, process ${step.by}: ${bound.name}`);
  }
  return { state, at };
}
