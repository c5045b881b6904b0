import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import { httpCaller } from '../harness/client.ts';
import { newProgram } from '../harness/program.ts';
import type { CommandResult, Program } from '../harness/program.ts';
import type { ShownTask } from '../harness/records.ts';
import { listAttention, listTasks } from '../harness/records.ts';
import { aGeneration } from '../harness/orders.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import { KEYS } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';

const TIMEOUT_MS = 180_000;
const CREATES_AT_A_TIME = 4;
const PAUSE_MS = 40;
/** Where several tasks of the upstream fit a lost answer, an operator decides after a minute. */
const RECONCILED_MS_MAX = 100_000;
const ENDED: readonly string[] = ['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED'];
/** Enough that tasks of every state are there when the backup is made. */
const TASKS_BEFORE = 25;
const TASKS_AFTER = 10;
const RATIOS = ['21:9', '16:9', '4:3', '1:1', '3:4', '9:16'];

const rich = (config: TestConfig): TestConfig => ({
  ...config,
  accounts: config.accounts.map((account) => ({ ...account, credit: '100000' })),
});

let folder = '';
let backup = '';
let upstream: ScriptedUpstream;
let original: Program;
let restored: Program;
let taken: CommandResult;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'reelgate-backup-'));
  backup = path.join(folder, 'monday');
  upstream = await startScriptedUpstream();
  [original, restored] = await Promise.all([
    newProgram('one program', { upstream: upstream.host }, rich),
    newProgram('one program', { upstream: upstream.host }, rich),
  ]);
}, TIMEOUT_MS);
afterAll(async () => {
  await original?.end();
  await restored?.end();
  await upstream?.stop();
  rmSync(folder, { recursive: true, force: true });
}, TIMEOUT_MS);

/** An order that no other of the last hundred looks like, so that a lost answer of the upstream can be found again. */
const anOrder = (number: number): object => ({
  ...aGeneration(number % 5 === 0 ? '[gate] a boat' : `[take:${(number % 10) * 100}] a boat`),
  duration: 4 + (number % 12),
  ratio: RATIOS[Math.floor(number / 12) % RATIOS.length],
  resolution: number % (24 * RATIOS.length) < 12 * RATIOS.length ? '768P' : '2K',
});

/** Creates tasks with short pauses until there are enough. A token may have 500 in flight, and the first end after 3 s. */
async function creating(program: Program, hasEnough: () => boolean): Promise<readonly string[]> {
  const caller = httpCaller(program.base, KEYS.demo);
  const ids: string[] = [];
  let number = 0;
  const one = async (): Promise<void> => {
    while (!hasEnough()) {
      number += 1;
      ids.push(await caller.create('/v2/video_generation', anOrder(number)));
      await wait(PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: CREATES_AT_A_TIME }, one));
  return ids;
}

const isEachIn = (attention: Awaited<ReturnType<typeof listAttention>>, tasks: readonly ShownTask[]): boolean =>
  tasks.every(({ id }) => attention.some(({ taskId, reason }) => taskId === id && reason !== ''));

const tasksOf = (program: Program) => listTasks(program, '--limit', '500');

test(
  'a backup of a program at work is restored to a program that ends every task of the backup once',
  async () => {
    await original.start();
    let made = 0;
    const goal = { isReached: false };
    const load = creating(original, () => {
      made += 1;
      return goal.isReached;
    });
    await until(() => made > TASKS_BEFORE + CREATES_AT_A_TIME);
    // so that the backup has bytes of a result
    await until(async () => (await tasksOf(original)).some(({ state }) => state === 'TASK_STATE_COMPLETED'));
    taken = await original.command('backup', backup);
    const afterwards = made;
    await until(() => made > afterwards + TASKS_AFTER);
    goal.isReached = true;
    const created = await load;
    await original.stop();
    const paid = upstream.works.length;

    expect(taken).toMatchObject({ code: 0, json: { ok: true, lost: [] } });
    expect(await restored.command('restore', backup)).toMatchObject({ code: 0, json: { ok: true } });
    await restored.start();
    const known = await tasksOf(restored);
    upstream.openGate();
    await until(async () => {
      const open = (await tasksOf(restored)).filter(({ state }) => !ENDED.includes(state));
      return open.length === 0 || isEachIn(await listAttention(restored), open);
    }, RECONCILED_MS_MAX);
    await until(async () => (await restored.command('ledger', 'verify')).code === 0);
    const ended = await tasksOf(restored);

    expect(known.length).toBeGreaterThanOrEqual(TASKS_BEFORE);
    expect(known.length).toBeLessThan(created.length);
    expect(known.some(({ state }) => state === 'TASK_STATE_COMPLETED')).toBe(true);
    expect(known.some(({ state }) => state === 'TASK_STATE_IN_PROGRESS')).toBe(true);
    expect(ended.map(({ id }) => id).toSorted()).toEqual(known.map(({ id }) => id).toSorted());
    // the recovery of a start ends creates that had not begun; everything that the upstream took is completed
    expect(
      ended.filter(({ state, attempts }) => state === 'TASK_STATE_FAILED' && attempts.some((one) => one.upstreamId)),
    ).toEqual([]);
    expect(ended.filter(({ state, settlement }) => ENDED.includes(state) !== (settlement !== undefined))).toEqual([]);
    expect(upstream.works).toHaveLength(paid);
    expect(await restored.command('ledger', 'verify')).toMatchObject({
      code: 0,
      json: { ok: true, sums: { USD: '0' }, unsettled_terminal_tasks: [], orphan_holds: [] },
    });
    const { code, json: verified } = await restored.command('media', 'verify');
    expect([code, (verified as { readonly checked: number }).checked > 0]).toEqual([0, true]);
  },
  TIMEOUT_MS,
);

/** The restore of the backup into a data folder of a program that does not run. */
async function restoring(from: string, change: (data: string) => void = () => undefined): Promise<CommandResult> {
  const other = await newProgram('one program', { upstream: upstream.host });
  try {
    change(other.config.data_dir);
    const result = await other.command('restore', from);
    if (result.code === 0) return result;
    // nothing of a refused restore stays
    const left = existsSync(other.config.data_dir) ? readdirSync(other.config.data_dir) : [];
    return { ...result, json: left };
  } finally {
    await other.end();
  }
}

test(
  'a restore refuses a folder with files and a program that runs',
  async () => {
    const full = await restoring(backup, (data) => {
      mkdirSync(data);
      writeFileSync(path.join(data, 'notes'), '');
    });

    expect([full.code, full.err, full.json]).toEqual([
      1,
      expect.stringMatching(/has files already, such as notes/),
      ['notes'],
    ]);
    expect(await restored.command('restore', backup)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^127\.0\.0\.1:\d+ is in use; stop the program before a restore/),
    });
    expect(await restored.command('backup', backup)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/has files already; expected an empty or a new folder/),
    });
  },
  TIMEOUT_MS,
);

test(
  'a backup that was cut off, changed, or written by a newer release is refused by name',
  async () => {
    const blob = readdirSync(path.join(backup, 'blobs'), { recursive: true, encoding: 'utf8' }).find(
      (name) => name.length > 10,
    );
    writeFileSync(path.join(backup, 'blobs', blob ?? ''), 'other bytes');
    expect(await restoring(backup)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/blobs\/.* is damaged: its content is not the one that was backed up/),
      json: [],
    });

    const store = new DatabaseSync(path.join(backup, 'media.sqlite'));
    store.exec("INSERT INTO schema_migrations (name, checksum) VALUES ('9998_newer.sql', 'x')");
    store.exec("INSERT INTO schema_contracts (name, needs) VALUES ('9999_contract.sql', '9998_newer.sql')");
    store.close();
    expect((await restoring(backup)).err).toMatch(/media\.sqlite is damaged/);

    const newer = path.join(folder, 'newer');
    await restored.stop();
    const live = new DatabaseSync(path.join(restored.config.data_dir, 'media.sqlite'));
    live.exec("INSERT INTO schema_migrations (name, checksum) VALUES ('9998_newer.sql', 'x')");
    live.exec("INSERT INTO schema_contracts (name, needs) VALUES ('9999_contract.sql', '9998_newer.sql')");
    live.close();
    expect((await restored.command('backup', newer)).code).toBe(0);
    expect(await restoring(newer)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/a newer release wrote this store: 9999_contract\.sql needs a program with/),
      json: [],
    });

    rmSync(path.join(backup, 'manifest.json'));
    expect(await restoring(backup)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/has no manifest\.json; the backup was cut off/),
      json: [],
    });
  },
  TIMEOUT_MS,
);

test(
  'no program starts on a folder whose restore was cut off',
  async () => {
    await restored.stop();
    mkdirSync(path.join(restored.config.data_dir, 'restoring'));

    await expect(restored.start()).rejects.toThrow(/data_dir: a restore into .* was cut off; empty the folder/);
  },
  TIMEOUT_MS,
);
