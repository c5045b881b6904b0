import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemClock } from '@reelgate/platform/clock';
import { newIds } from '@reelgate/platform/ids';
import { openSql } from '@reelgate/platform/sql/open-sql';
import type { Sql } from '@reelgate/platform/sql/sql';
import { sqlTaskStore } from '@reelgate/tasks/store/tasks/sql-task-store';
import { median } from './load.ts';
import type { Line } from './table.ts';

const FEW = 1000;
const MANY = Number(process.env['REELGATE_BENCH_TASKS'] ?? 100_000);
const PASSES = 300;
const DUE = 64;
const ROWS_AT_ONCE = 1000;
const MINUTE_MS = 60_000;
const MIB = 2 ** 20;
const ORDER = JSON.stringify({
  kind: 'generation',
  model: 'Alpha-H3',
  content: [{ text: 'a red boat '.repeat(30) }],
  duration: 5,
  resolution: '768P',
  ratio: '16:9',
});

/** Claims 64 due tasks of a channel and postpones them, with few and with many unfinished tasks beside them. */
export async function pollPassBench(): Promise<readonly Line[]> {
  // The first run includes the time of the compiler.
  await measured(FEW);
  const few = await measured(FEW);
  const many = await measured(MANY);
  return [
    {
      what: `poller pass, ${MANY} unfinished (baseline: ${FEW})`,
      figure: many.passMs,
      unit: 'ms',
      baseline: few.passMs,
      goal: 'the same',
    },
    {
      what: `sweeps, ${MANY} unfinished (baseline: ${FEW})`,
      figure: many.sweepMs,
      unit: 'ms',
      baseline: few.sweepMs,
      goal: 'the same',
    },
    {
      what: `memory grown over ${PASSES} passes, ${MANY} unfinished`,
      figure: many.grownMiB,
      unit: 'MiB',
      baseline: few.grownMiB,
      goal: 'flat',
    },
  ];
}

async function measured(
  tasks: number,
): Promise<{ readonly passMs: number; readonly sweepMs: number; readonly grownMiB: number }> {
  const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-passes-'));
  const sql = await openSql({
    url: undefined,
    dataDir: folder,
    name: 'tasks',
    migrations: path.join(import.meta.dirname, '../../services/tasks/migrations'),
  });
  try {
    await fill(sql, tasks);
    await passes(sql, PASSES);
    const before = process.memoryUsage().rss;
    const { passMs, sweepMs } = await passes(sql, PASSES);
    return { passMs, sweepMs, grownMiB: (process.memoryUsage().rss - before) / MIB };
  } finally {
    await sql.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Inserts tasks: the first 64 are due now, the others in an hour. */
async function fill(sql: Sql, tasks: number): Promise<void> {
  const now = systemClock.now();
  for (let from = 0; from < tasks; from += ROWS_AT_ONCE) {
    await sql.transaction(async (query) => {
      for (let row = from; row < from + ROWS_AT_ONCE; row += 1) {
        await query(
          `INSERT INTO tasks (id, account_id, token_id, kind, model, order_json, admission, state, seconds,
                              created_at, updated_at, in_flight_json, channel, upstream_account, upstream_id,
                              next_poll_at)
           VALUES ($1, 'demo', 'token', 'generation', 'Alpha-H3', $2, 'accepted', 'in_progress', 5,
                   $3, $3, '[]', 'main', 'vendor', $1, $4)`,
          [`task_${String(row).padStart(8, '0')}`, ORDER, now, row < DUE ? now - 1 : now + 60 * MINUTE_MS],
        );
      }
    });
  }
}

async function passes(sql: Sql, count: number): Promise<{ readonly passMs: number; readonly sweepMs: number }> {
  const store = sqlTaskStore(sql, newIds(systemClock), () => ({ type: 'finished', payload: '{}' }));
  const [took, swept]: [number[], number[]] = [[], []];
  for (let pass = 0; pass < count; pass += 1) {
    const start = performance.now();
    const now = systemClock.now();
    const due = await store.claimDue('main', { now, leaseUntil: now + MINUTE_MS, limit: DUE, owner: 'bench' });
    if (due.length !== DUE) throw new Error(`${due.length} tasks were due`);
    await Promise.all(
      due.map(({ id }) =>
        store.progress(id, 'in_progress', {
          state: 'in_progress',
          unrecognised: false,
          progress: 0,
          pollErrors: 0,
          nextPollAt: now - 1,
          at: now,
        }),
      ),
    );
    const claimed = performance.now();
    took.push(claimed - start);
    await store.listUnsettled({ before: now, beyond: now + MINUTE_MS, limit: DUE });
    await store.listWithAdmission('unknown', { limit: DUE, after: '' });
    await store.listLate('soft', now - MINUTE_MS * 60, DUE);
    await store.listLate('hard', now - MINUTE_MS * 60, DUE);
    swept.push(performance.now() - claimed);
  }
  return { passMs: median(took), sweepMs: median(swept) };
}
