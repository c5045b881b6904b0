import { afterAll, beforeAll } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import { newDatabases } from '../harness/databases.ts';
import { SHAPES, newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { seeded } from '../harness/seeded.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';
import { postgresServer } from '../servers/postgres-server.ts';
import { redisServer } from '../servers/redis-server.ts';
import { forKills, invariantsHold } from './invariants.ts';
import type { Simulated } from './invariants.ts';
import { simulate } from './simulate.ts';

const SEED = Number(process.env['REELGATE_SEED'] ?? Math.floor(Math.random() * 1_000_000));
const KILLS = Number(process.env['REELGATE_KILLS'] ?? 6);
const ORDERS_MIN = KILLS * 10;
const ORDERS_MAX = 100 * KILLS;
const TIMEOUT_MS = 240_000 + KILLS * 15_000;

describeWith(
  natsServer,
  `four processes of which any is killed at random under load (REELGATE_SEED=${SEED})`,
  (bus) => {
    describeWith(redisServer, 'with shared counters', (redis) => {
      describeWith(postgresServer, 'each with a database of its own', (postgres) => {
        let upstream: ScriptedUpstream;
        let program: Program;
        let simulated: Simulated;

        beforeAll(async () => {
          upstream = await startScriptedUpstream();
          program = await newProgram(
            'four processes',
            { upstream: upstream.host, bus: bus(), redis: redis(), databases: await newDatabases(postgres()) },
            forKills,
          );
          simulated = await simulate({
            upstream,
            program,
            seed: SEED,
            clients: 16,
            ordersMin: ORDERS_MIN,
            ordersMax: ORDERS_MAX,
            disturb: async () => {
              await killAtRandom(program);
              await program.ready();
            },
          });
        }, TIMEOUT_MS);

        afterAll(async () => {
          await program?.end();
          await upstream?.stop();
        }, TIMEOUT_MS);

        invariantsHold(() => simulated);
      });
    });
  },
);

/** Kills each process once and then random ones, sometimes before the last one has restarted. */
async function killAtRandom(program: Program): Promise<void> {
  const { whole, pick, chance } = seeded(SEED);
  const services = SHAPES['four processes']
    .map((service) => ({ service, lot: chance() }))
    .toSorted((a, b) => a.lot - b.lot)
    .map(({ service }) => service);
  const killed: string[] = [];
  for (let kill = 0; kill < KILLS; kill += 1) {
    await wait(whole(300, 2000));
    const service = services.pop() ?? pick(SHAPES['four processes']);
    killed.push(service);
    await program.killOne(service, whole(0, 500));
    if (chance() < 0.7) await program.ready();
  }
  console.log(`REELGATE_SEED=${SEED} killed: ${killed.join(', ')}`);
}
