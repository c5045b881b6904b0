import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import { openCuttableLine } from '../harness/cuttable-line.ts';
import type { CuttableLine } from '../harness/cuttable-line.ts';
import { newDatabases } from '../harness/databases.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';
import { postgresServer } from '../servers/postgres-server.ts';
import { forSimulation, invariantsHold } from './invariants.ts';
import type { Simulated } from './invariants.ts';
import { simulate } from './simulate.ts';

const SEED = Number(process.env['REELGATE_SEED'] ?? Math.floor(Math.random() * 1_000_000));
const ORDERS_MIN = 50;
const ORDERS_MAX = 2000;
const AWAY_MS = 10_000;
const BEFORE_MS = 3000;
const AFTER_MS = 4000;
/** The time from the database's return until every task has ended and is settled, except those with a lost answer. */
const BACK_TO_WORK_MS = 40_000;
const TIMEOUT_MS = 240_000;

describeWith(natsServer, `a database that goes away for ten seconds under load (REELGATE_SEED=${SEED})`, (bus) => {
  describeWith(postgresServer, 'which all services share', (postgres) => {
    let upstream: ScriptedUpstream;
    let line: CuttableLine;
    let program: Program;
    let simulated: Simulated;
    let whileAway: readonly number[];
    let settledInMs: number;

    beforeAll(async () => {
      upstream = await startScriptedUpstream();
      line = await openCuttableLine(postgres());
      await newDatabases(postgres());
      program = await newProgram(
        'four processes',
        { upstream: upstream.host, bus: bus(), databases: databasesBy(line) },
        forSimulation,
      );
      let backAt = 0;
      simulated = await simulate({
        upstream,
        program,
        seed: SEED,
        clients: 24,
        ordersMin: ORDERS_MIN,
        ordersMax: ORDERS_MAX,
        settledTimeoutMs: BACK_TO_WORK_MS,
        // else the circuits of the channels decide about the time until all is settled
        isUpstreamWorking: true,
        disturb: async (load) => {
          await wait(BEFORE_MS);
          const before = load.answers.length;
          line.cut();
          await wait(AWAY_MS);
          whileAway = load.answers.slice(before).map(({ status }) => status);
          line.mend();
          backAt = performance.now();
          await wait(AFTER_MS);
        },
      });
      settledInMs = performance.now() - backAt;
      console.log(`REELGATE_SEED=${SEED} settled ${settledInMs.toFixed()} ms after the database came back`);
    }, TIMEOUT_MS);

    afterAll(async () => {
      await program?.end();
      await line?.stop();
      await upstream?.stop();
    }, TIMEOUT_MS);

    test('is away: calls fail with a message that says so', () => {
      expect(whileAway.filter((status) => status >= 500).length).toBeGreaterThan(10);
    });

    test('is back: every process still runs, and every begun task ends soon', () => {
      // Signal 0 only checks that the process exists.
      expect(program.pids().map((pid) => process.kill(pid, 0))).toEqual([true, true, true, true]);
      expect(settledInMs).toBeLessThan(BACK_TO_WORK_MS);
    });

    invariantsHold(() => simulated);
  });
});

function databasesBy({ url }: CuttableLine): Record<'tasks' | 'billing' | 'media', string> {
  const named = (name: string): string => Object.assign(new URL(url), { pathname: `/${name}` }).href;
  return { tasks: named('tasks'), billing: named('billing'), media: named('media') };
}
