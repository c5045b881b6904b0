import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import type { HttpCaller } from '../harness/client.ts';
import { aGeneration } from '../harness/orders.ts';
import type { Program } from '../harness/program.ts';
import { formatAmount, listAttention, listTasks, readAccount } from '../harness/records.ts';
import { seeded } from '../harness/seeded.ts';
import { startScriptedProgram } from '../harness/scripted-program.ts';
import type { ScriptedProgram } from '../harness/scripted-program.ts';
import type { ScriptedUpstream, Work } from '../harness/scripted-upstream.ts';

const TIMEOUT_MS = 120_000;
const SEED = Number(process.env['REELGATE_SEED'] ?? Math.floor(Math.random() * 1_000_000));
const TASKS = 20;
const TAKE_MS = 400;
const STATUSES = ['queued', 'running', 'running', 'succeeded', 'succeeded', 'failed', 'cancelled', 'who knows'];
/** The first poll comes after a minute, so only callbacks can end a task before. */
const POLL = { first: '60s', factor: 1, max: '60s' };

let started: ScriptedProgram | undefined;
let upstream: ScriptedUpstream;
let program: Program;
let demo: HttpCaller;

beforeAll(async () => {
  started = await startScriptedProgram({ tasks: { poll: POLL }, channel: { callbacks: true } });
  ({ upstream, program, demo } = started);
}, TIMEOUT_MS);
afterAll(() => started?.end(), TIMEOUT_MS);

const order = (mark: string) => aGeneration(`a red boat [mark:${mark}] [take:${TAKE_MS}]`);

/** Calls back with every status of this task and of another one, repeatedly and in a random order. */
async function storm(work: Work, others: readonly Work[]): Promise<readonly number[]> {
  const { chance, pick } = seeded(SEED + Number(work.id.slice(-5)));
  const said = [work, work, pick(others)].flatMap(({ id }) =>
    STATUSES.map((status) => JSON.stringify({ task_id: id, status, task: { id, status } })),
  );
  const bodies = [...said, '{}', '[]', '<html></html>', '']
    .map((body) => ({ body, lot: chance() }))
    .toSorted((a, b) => a.lot - b.lot);
  return Promise.all(
    bodies.map(async ({ body }) => {
      const answer = await fetch(work.order.callback_url!, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      await answer.text();
      return answer.status;
    }),
  );
}

test(
  'repeated, disordered and false callbacks end each task once, in the state of its upstream task ' +
    `(REELGATE_SEED=${SEED})`,
  async () => {
    const tasks = await Promise.all(
      Array.from({ length: TASKS }, (_, number) => demo.create('/v2/video_generation', order(`storm${number}`))),
    );

    const early = await Promise.all(upstream.works.map((work) => storm(work, upstream.works)));
    await wait(TAKE_MS);
    const late = await Promise.all(upstream.works.map((work) => storm(work, upstream.works)));
    await Promise.all(tasks.map((taskId) => demo.finish(taskId)));
    const after = await Promise.all(upstream.works.map((work) => storm(work, upstream.works)));

    for (const status of [...early, ...late, ...after].flat()) expect([200, 429]).toContain(status);
    const deadline = performance.now() + TIMEOUT_MS / 2;
    const account = () => readAccount(program, 'demo');
    while ((await account()).held !== '0' && performance.now() < deadline) await wait(200);
    expect(await account()).toMatchObject({ balance: String(100 - TASKS * 0.4), held: '0' });
    const records = await listTasks(program, '--account', 'demo', '--limit', '1000');
    for (const { state, events, settlement } of records) {
      expect([
        state,
        formatAmount(settlement?.amountNanos),
        events.filter(({ type }) => type === 'completed' || type === 'failed').length,
      ]).toEqual(['TASK_STATE_COMPLETED', '0.4', 1]);
    }
    expect(records).toHaveLength(TASKS);
    expect(await listAttention(program)).toEqual([]);
    expect((await program.command('ledger', 'verify')).json).toMatchObject({ ok: true });
  },
  TIMEOUT_MS,
);
