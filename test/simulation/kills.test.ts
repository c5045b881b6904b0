import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import { until } from '@reelgate/platform/testing/until';
import { httpCaller } from '../harness/client.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { seeded } from '../harness/seeded.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import { KEYS } from '../harness/test-config.ts';
import { markOf, tasksOf } from './books.ts';
import { accountOf, forKills, invariantsHold } from './invariants.ts';
import type { Simulated } from './invariants.ts';
import { simulate } from './simulate.ts';
import { insist } from './load.ts';

const SEED = Number(process.env['REELGATE_SEED'] ?? Math.floor(Math.random() * 1_000_000));
const KILLS = Number(process.env['REELGATE_KILLS'] ?? 3);
const ORDERS_MIN = KILLS * 40;
const ORDERS_MAX = 150 * KILLS;
const SETTLED_TIMEOUT_MS = 90_000;
const ROUND_TIMEOUT_MS = 15_000;
const TIMEOUT_MS = 240_000 + KILLS * ROUND_TIMEOUT_MS;

describe(`a program that is killed at random under load (REELGATE_SEED=${SEED})`, () => {
  let upstream: ScriptedUpstream;
  let program: Program;
  let simulated: Simulated;

  beforeAll(async () => {
    console.log(`REELGATE_SEED=${SEED} REELGATE_KILLS=${KILLS}`);
    upstream = await startScriptedUpstream();
    program = await newProgram('one program', { upstream: upstream.host }, forKills);
    const { whole } = seeded(SEED);
    simulated = await simulate({
      upstream,
      program,
      seed: SEED,
      clients: 24,
      ordersMin: ORDERS_MIN,
      ordersMax: ORDERS_MAX,
      disturb: async () => {
        for (let kill = 0; kill < KILLS; kill += 1) {
          await wait(whole(200, 1500));
          await program.stop('SIGKILL');
          await wait(whole(0, 300));
          await program.start();
        }
      },
    });
  }, TIMEOUT_MS);

  afterAll(async () => {
    await program?.end();
    await upstream?.stop();
  }, TIMEOUT_MS);

  invariantsHold(() => simulated);
});

describe('a program that is killed while the upstream delays its answer', () => {
  let upstream: ScriptedUpstream;
  let program: Program;

  const order = (mark: string, duration: number) => ({
    mark,
    target: '/v2/video_generation',
    body: {
      model: 'Alpha-H3',
      content: [{ type: 'text', text: `a red boat [mark:${mark}] [hang]` }],
      duration,
      resolution: '768P',
      ratio: '16:9',
    },
  });
  const alone = order('alone', 7);
  const twins = [order('twin-a', 9), order('twin-b', 9)];
  const orders = [alone, ...twins];

  beforeAll(async () => {
    upstream = await startScriptedUpstream();
    program = await newProgram('one program', { upstream: upstream.host });
    await program.start();
    const client = httpCaller(program.base, KEYS.demo);
    for (const { mark, target, body } of orders)
      void client.call('POST', target, body, { 'idempotency-key': `key-${mark}` }).catch(() => undefined);
    await until(() => upstream.works.length >= orders.length);
    await program.stop('SIGKILL');
    await program.start();
  }, TIMEOUT_MS);

  afterAll(async () => {
    await program?.end();
    await upstream?.stop();
  }, TIMEOUT_MS);

  test(
    'its orders are tasks after the restart, under their keys',
    async () => {
      for (const one of orders) {
        const { taskId } = await insist({ base: program.base, token: KEYS.demo }, one, []);
        expect((await httpCaller(program.base, KEYS.demo).call('GET', `/v1/videos/${taskId!}`)).status).toBe(200);
      }
    },
    TIMEOUT_MS,
  );

  test(
    'a lost submission is found in the list of the upstream if it alone fits; two equal ones are not guessed, ' +
      'and both keep their holds',
    async () => {
      const deadline = performance.now() + SETTLED_TIMEOUT_MS;
      const find = async () => new Map((await tasksOf(program, 'demo')).map((task) => [markOf(task), task]));
      let tasks = await find();
      while (tasks.get('alone')?.state !== 'TASK_STATE_COMPLETED' && performance.now() < deadline) {
        await wait(500);
        tasks = await find();
      }
      expect(tasks.get('alone')).toMatchObject({
        state: 'TASK_STATE_COMPLETED',
        admission: 'accepted',
        settlement: { amountNanos: '560000000', basis: 'BASIS_USAGE' },
      });
      for (const { mark } of twins)
        expect(tasks.get(mark)).toMatchObject({
          ...{ state: 'TASK_STATE_QUEUED', admission: 'unknown' },
          hold: { amountNanos: '720000000' },
        });
      expect(await accountOf(program)).toMatchObject({ balance: '99.44', held: '1.44' });
    },
    TIMEOUT_MS,
  );

  test('no order was submitted again', () => {
    expect(upstream.asked.toSorted()).toEqual(orders.map(({ mark }) => mark).toSorted());
  });
});
