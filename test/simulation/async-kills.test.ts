import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import { aChat, untilEnded, withJobs } from '../e2e/async-calls.ts';
import { httpCaller } from '../harness/client.ts';
import type { HttpCaller } from '../harness/client.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { startRelayUpstream } from '../harness/relay-upstream/relay-upstream.ts';
import type { RelayUpstream } from '../harness/relay-upstream/relay-upstream.ts';
import { seeded } from '../harness/seeded.ts';
import { KEYS } from '../harness/test-config.ts';
import { listAttention } from '../harness/records.ts';
import type { ListJobRecordsResponseJson } from '@reelgate/proto/tasks/v1/operator_service';

const SEED = Number(process.env['REELGATE_SEED'] ?? Math.floor(Math.random() * 1_000_000));
const KILLS = Number(process.env['REELGATE_KILLS'] ?? 4);
const CALLS = 60 * KILLS;
const CLIENTS = 12;
const TIMEOUT_MS = 120_000 + KILLS * 15_000;
const END_TIMEOUT_MS = 60_000;
const TRIES_MAX = 400;
const RETRY_MS = 100;
const WORDS = ['', '', '', '[slow:150]', '[slow:400]', '[slow:900]', '[status:400]', '[reset]'];

interface Told {
  readonly mark: string;
  readonly words: string;
  readonly id: string;
}

interface Ended {
  readonly status: string;
  readonly status_code?: number;
  readonly error?: { readonly code: string };
}

/** Repeats one call under its key until it is accepted. */
async function insist(client: HttpCaller, mark: string, words: string): Promise<Told> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const answer = await client
      .call('POST', '/async/v1/chat/completions', aChat(mark, words), { 'idempotency-key': `key-${mark}` })
      .catch(() => undefined);
    if (answer?.status === 202) return { mark, words, id: (answer.json as { id: string }).id };
    await wait(RETRY_MS);
  }
  throw new Error(`${mark} was never accepted`);
}

describe(`a program that is killed while it makes queued calls (REELGATE_SEED=${SEED})`, () => {
  let upstream: RelayUpstream;
  let program: Program;
  const told: Told[] = [];
  const ended = new Map<string, Ended>();

  beforeAll(async () => {
    console.log(`REELGATE_SEED=${SEED} REELGATE_KILLS=${KILLS}`);
    upstream = await startRelayUpstream();
    const withRoom = withJobs(upstream.host, { workers: 8 });
    program = await newProgram('one program', { upstream: upstream.host }, (config) => {
      const made = withRoom(config);
      return { ...made, tasks: { ...made.tasks, jobs: { lease: '2s', per_token: 10_000 } } as typeof made.tasks };
    });
    await program.start();
    const client = httpCaller(program.base, KEYS.demo, 5000);
    const { pick, whole } = seeded(SEED);
    let next = 0;
    const clients = Array.from({ length: CLIENTS }, async () => {
      while (next < CALLS) {
        next += 1;
        told.push(await insist(client, `m${next}`, pick(WORDS)));
        await wait(whole(0, 150));
      }
    });
    for (let kill = 0; kill < KILLS; kill += 1) {
      await wait(whole(200, 1500));
      await program.stop('SIGKILL');
      await wait(whole(0, 300));
      await program.start();
    }
    await Promise.all(clients);
    for (const { mark, id } of told) ended.set(mark, (await untilEnded(client, id, END_TIMEOUT_MS)).json as Ended);
    const unknown = [...ended.values()].filter(({ error }) => error?.code === 'outcome_unknown');
    console.log(`calls ${told.length}, made ${upstream.calls.length}, unknown ${unknown.length}`);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await program?.end();
    await upstream?.stop();
  }, TIMEOUT_MS);

  test('no call was made twice', () => {
    const marks = told.map(({ mark }) => mark);
    expect(marks.filter((mark) => upstream.marked(mark).length > 1)).toEqual([]);
  });

  test('every accepted call has ended, under an id of its own', () => {
    expect(ended.size).toBe(CALLS);
    expect(new Set(told.map(({ id }) => id)).size).toBe(CALLS);
  });

  test('every completed call was made, and every failed call was refused, lost upstream, or is unknown', () => {
    const wrong = told.filter(({ mark, words }) => {
      const { status, status_code: code, error } = ended.get(mark)!;
      if (error?.code === 'outcome_unknown') return false;
      if (upstream.marked(mark).length !== 1) return true;
      if (words === '[status:400]') return status !== 'failed' || code !== 400;
      if (words === '[reset]') return error?.code !== 'upstream_failed';
      return status !== 'completed' || code !== 200;
    });
    expect(wrong).toEqual([]);
  });

  test('the attention queue has every unknown call and no other', async () => {
    const unknown = told.filter(({ mark }) => ended.get(mark)?.error?.code === 'outcome_unknown').map(({ id }) => id);
    const waiting = await listAttention(program);

    expect(waiting.map(({ taskId }) => taskId).toSorted()).toEqual(unknown.toSorted());
    expect(unknown.length).toBeLessThan(told.length / 2);
  });

  test('an operator sees every call, and a resolved call leaves the queue and has its money settled', async () => {
    const { records } = (await program.command('job', 'list', '--limit', '1000')).json as ListJobRecordsResponseJson;
    expect(new Set(records?.map(({ job }) => job?.id))).toEqual(new Set(told.map(({ id }) => id)));
    const lost = told.find(({ mark }) => ended.get(mark)?.error?.code === 'outcome_unknown');
    if (lost === undefined) return;

    expect((await program.command('job', 'show', lost.id)).json).toMatchObject({
      record: {
        job: { id: lost.id, state: 'TASK_STATE_FAILED', failure: { code: 'outcome_unknown' } },
        starts: 1,
      },
    });
    expect((await program.command('attention', 'resolve', lost.id, '--as', 'retry')).code).toBe(1);
    expect(await program.command('attention', 'resolve', lost.id, '--as', 'failed')).toMatchObject({
      json: { jobRecord: { job: { id: lost.id, state: 'TASK_STATE_FAILED' } } },
    });
    expect(await listAttention(program)).not.toContainEqual(expect.objectContaining({ taskId: lost.id }));
  });

  test('the same key gives the same job after all kills, and makes no call', async () => {
    const before = upstream.calls.length;
    const client = httpCaller(program.base, KEYS.demo);
    for (const { mark, words, id } of told.slice(0, 40)) expect((await insist(client, mark, words)).id).toBe(id);
    expect(upstream.calls.length).toBe(before);
  });

  test('the ledger balances', async () => {
    expect((await program.command('ledger', 'verify')).json).toMatchObject({
      ok: true,
      sums: { USD: '0' },
    });
  });
});
