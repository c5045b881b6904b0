import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import { setTimeout as wait } from 'node:timers/promises';
import { httpCaller } from '../../harness/client.ts';
import { newDatabases } from '../../harness/databases.ts';
import { newProgram } from '../../harness/program.ts';
import type { Program } from '../../harness/program.ts';
import { extractRelease } from '../../harness/release-before.ts';
import type { ExtractedRelease } from '../../harness/release-before.ts';
import { startScriptedUpstream } from '../../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../../harness/scripted-upstream.ts';
import { KEYS } from '../../harness/test-config.ts';
import type { TestConfig } from '../../harness/test-config.ts';
import { describeWith } from '../../servers/describe-with.ts';
import { natsServer } from '../../servers/nats-server.ts';
import { postgresServer } from '../../servers/postgres-server.ts';
import { redisServer } from '../../servers/redis-server.ts';
import { tasksOf, untilSettled } from '../../simulation/books.ts';
import type { Shown } from '../../simulation/books.ts';
import { forSimulation, invariantsHold } from '../../simulation/invariants.ts';
import type { Simulated } from '../../simulation/invariants.ts';
import { startLoad } from '../../simulation/load.ts';
import { startCanceller, startReader } from './restless-clients.ts';
import type { Cancelled } from './restless-clients.ts';
import { REPLICA_NAMES, THIS_RELEASE, newRollingProgram } from './rolling-program.ts';
import type { ReplicaName, RollingProgram } from './rolling-program.ts';

/** A process that is replaced, and what ends it. */
type Roll = readonly [name: ReplicaName, to: 'before' | 'this', signal: 'SIGTERM' | 'SIGKILL'];

/** The order of the operator's guide: who is called comes before its callers, and the way back is the opposite. */
const ROLLS: readonly Roll[] = [
  ['billing', 'this', 'SIGTERM'],
  ['media', 'this', 'SIGTERM'],
  ['tasks a', 'this', 'SIGTERM'],
  ['tasks b', 'this', 'SIGKILL'],
  ['gateway a', 'this', 'SIGTERM'],
  ['gateway b', 'this', 'SIGTERM'],
];
/** The way back begins once no task waits, because the release before shows none that does. */
const ROLLS_BACK: readonly Roll[] = [
  ['tasks a', 'before', 'SIGTERM'],
  ['tasks a', 'this', 'SIGKILL'],
];
const TASKS = ['tasks a', 'tasks b'] as const;
const SEED = Number(process.env['REELGATE_SEED'] ?? Math.floor(Math.random() * 1_000_000));
const CLIENTS = 6;
const ORDERS_MIN = 40;
const ORDERS_MAX = 2000;
const REST_MS = 500;
/** The load goes on this long between two processes that are replaced. */
const BETWEEN_MS = 500;
const TIMEOUT_MS = 240_000;
const SETTLED_TIMEOUT_MS = 60_000;
/** The answers with which a client knows that it may send the same request again. */
const REPEATABLE = 503;
/** The answer to a cancel that ended its task. */
const CANCELLED = 200;

describeWith(natsServer, `a rolling upgrade from the release before (REELGATE_SEED=${SEED})`, (bus) => {
  describeWith(redisServer, 'with shared counters', (redis) => {
    describeWith(postgresServer, 'each with a database of its own', (postgres) => {
      let upstream: ScriptedUpstream;
      let program: Program;
      let rolling: RollingProgram;
      let before: ExtractedRelease;
      let simulated: Simulated;
      let cancelled: readonly Cancelled[];
      let cancelledTasks: readonly Shown[];
      let answers: readonly { readonly status: number; readonly text: string }[];
      const exits: (readonly [ReplicaName, number | null])[] = [];

      beforeAll(async () => {
        before = await extractRelease();
        upstream = await startScriptedUpstream();
        const databases = await newDatabases(postgres());
        const options = { upstream: upstream.host, bus: bus(), redis: redis(), databases };
        program = await newProgram('four processes', options, forSimulation);
        rolling = await newRollingProgram(program.config);
        const folders = { before: before.folder, this: THIS_RELEASE };
        for (const name of ['billing', 'media'] as const) await rolling.start(name, folders.before);
        await Promise.all(
          REPLICA_NAMES.filter((name) => name !== 'billing' && name !== 'media').map((name) =>
            rolling.start(name, folders.before),
          ),
        );

        const { bases } = rolling;
        let orders = 0;
        const load = startLoad({
          ...{ token: KEYS.demo, seed: SEED, clients: CLIENTS, ordersMax: ORDERS_MAX, restMs: REST_MS },
          // each order goes to the next gateway
          get base() {
            return bases[(orders += 1) % bases.length] ?? '';
          },
        });
        const reader = startReader({ bases, token: KEYS.demo, seed: SEED }, load);
        const canceller = startCanceller({ bases, token: KEYS.other, seed: SEED });
        for (const service of ['billing', 'media', 'tasks'])
          expect((await program.command('migrate', service)).code).toBe(0);
        const roll = async (rolls: readonly Roll[]): Promise<void> => {
          for (const [name, to, signal] of rolls) {
            await wait(BETWEEN_MS);
            exits.push([name, await rolling.stop(name, signal)]);
            await rolling.start(name, folders[to]);
          }
        };
        await roll(ROLLS);
        for (const name of TASKS) rolling.reload(name, narrowChannels);
        await until(async () => (await rolling.countWaiting('tasks b')) > 0, SETTLED_TIMEOUT_MS);
        await wait(BETWEEN_MS);
        for (const name of TASKS) rolling.reload(name, disableQueue);
        await until(async () => (await rolling.countWaiting('tasks b')) === 0, SETTLED_TIMEOUT_MS);
        await roll(ROLLS_BACK);
        await load.end(ORDERS_MIN);
        await reader.stop();
        cancelled = await canceller.stop();
        const tasks = await untilSettled(program, 'demo', SETTLED_TIMEOUT_MS);
        cancelledTasks = await untilSettled(program, 'other', SETTLED_TIMEOUT_MS);
        answers = [...load.answers, ...reader.answers, ...canceller.answers];
        simulated = { upstream: selectWorks('m', upstream), program, load, tasks, ordersMin: ORDERS_MIN };
      }, TIMEOUT_MS);

      afterAll(async () => {
        await rolling?.end();
        await program?.end();
        await upstream?.stop();
        before?.remove();
      }, TIMEOUT_MS);

      invariantsHold(() => simulated);

      test('each process that drained ended by itself, without an error', () => {
        const drained = [...ROLLS, ...ROLLS_BACK].map(([name, , signal]) => [name, signal === 'SIGTERM' ? 0 : null]);

        expect(exits).toEqual(drained);
      });

      test('a client that met a fault could send its request again', () => {
        const faults = answers.filter(({ status }) => status >= 500 && status !== REPEATABLE);

        expect(faults).toEqual([]);
      });

      test('each cancelled order was accepted at most once, and has one task with the end that its client was told', () => {
        const marks = selectWorks('c', upstream).works.map(({ mark }) => mark);
        const states = new Map(cancelledTasks.map(({ id, state }) => [id, state]));

        expect(cancelled.filter(({ status }) => status === CANCELLED).length).toBeGreaterThan(0);
        expect(marks.filter((mark, at) => marks.indexOf(mark) !== at)).toEqual([]);
        expect(cancelledTasks).toHaveLength(new Set(cancelledTasks.map(({ order }) => order.prompt)).size);
        for (const { taskId, status } of cancelled)
          if (taskId !== undefined && status !== undefined)
            expect(states.get(taskId)).toBe(status === CANCELLED ? 'failed' : 'completed');
      });

      test('both releases left the tasks of every client readable', async () => {
        const all = await tasksOf(program, 'other');
        const caller = httpCaller(rolling.bases[1], KEYS.other);

        for (const { id } of all) expect((await caller.call('GET', `/v1/videos/${id}`)).status).toBe(200);
      });
    });
  });
});

/** Channels with one place each, so that creates wait. */
function narrowChannels({ channels, ...config }: TestConfig): object {
  return {
    ...config,
    channels: channels.map((channel) => ({ ...channel, limits: { ...channel.limits, in_flight: 1 } })),
  };
}

function disableQueue(config: TestConfig): object {
  return { ...config, tasks: { ...config.tasks, queue: { enabled: false } } };
}

/** The upstream as it looks to the orders whose marks begin so. */
function selectWorks(first: string, upstream: ScriptedUpstream): ScriptedUpstream {
  return {
    ...upstream,
    get works() {
      return upstream.works.filter(({ mark }) => mark.startsWith(first));
    },
    get asked() {
      return upstream.asked.filter((mark) => mark.startsWith(first));
    },
  };
}
