import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemClock } from '@reelgate/platform/clock';
import { newIds } from '@reelgate/platform/ids';
import { openSql } from '@reelgate/platform/sql/open-sql';
import type { Sql } from '@reelgate/platform/sql/sql';
import { Secret } from '@reelgate/platform/secret';
import { createDatabase } from '@reelgate/platform/testing/create-database';
import { nameLane } from '@reelgate/tasks/domain/lane';
import { sqlTaskStore } from '@reelgate/tasks/store/tasks/sql-task-store';
import { postgresServer } from '../servers/postgres-server.ts';
import { createRequest, startBenchProgram } from './bench-program.ts';
import type { BenchProgram } from './bench-program.ts';
import { closedLoop, median, quantile } from './load.ts';
import { joinPairs, linesOfPairs, roundPairs } from './rounds.ts';
import type { RoundPairs, Subject } from './rounds.ts';
import type { Line } from './table.ts';

const FEW = 1000;
const MANY = 1_000_000;
const ACCOUNTS = 1000;
const TOKENS = 2000;
const CHUNK = 50_000;
const CLAIMS = 400;
const WARM_UP_CLAIMS = 50;
/** The limits that we ship. */
const TOKEN_IN_FLIGHT = 20;
const TOTAL_IN_FLIGHT = 1000;
const HOUR_MS = 3_600_000;
const LANE = nameLane({ kind: 'generation', model: 'Alpha-H3', without: [], class: 'standard' });
const ORDER = JSON.stringify({ kind: 'generation', model: 'Alpha-H3', content: [{ text: 'a red boat at dawn' }] });
/** The row that the baseline writes. */
const RULE = 'account:none';
const MIGRATIONS = path.join(import.meta.dirname, '../../services/tasks/migrations');
const CREATES = { inFlight: 32, ms: 2000 };
const CREATE_WARM_UP_MS = 4000;
/** A start of a process has a speed of its own, so each side has some, and is the first to start in half of them. */
const STARTS = 4;

/** Turns with a million tasks of a thousand accounts that wait, and creates that need not wait. */
export async function queueBench(): Promise<readonly Line[]> {
  return [...(await measureClaims()), ...(await measureCreates())];
}

async function measureClaims(): Promise<readonly Line[]> {
  const lines = [...(await compareClaims('SQLite', openFile, 'up to 0.1 ms'))];
  const missing = postgresServer.missing();
  if (missing !== undefined) return [...lines, { what: 'a claim, PostgreSQL', skipped: missing }];
  const postgres = (await postgresServer.start())!;
  try {
    let databases = 0;
    const open = async (): Promise<Opened> => {
      const url = await createDatabase(postgres.url, `queue_${(databases += 1)}`);
      const sql = await openSql({ url: new Secret(url), dataDir: '', name: 'tasks', migrations: MIGRATIONS });
      return { sql, end: () => sql.close() };
    };
    return [...lines, ...(await compareClaims('PostgreSQL', open, 'up to 1 ms'))];
  } finally {
    await postgres.stop();
  }
}

interface Opened {
  readonly sql: Sql;
  end(): Promise<void>;
}

async function openFile(): Promise<Opened> {
  const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-queue-'));
  const sql = await openSql({ url: undefined, dataDir: folder, name: 'tasks', migrations: MIGRATIONS });
  return {
    sql,
    end: async () => {
      await sql.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface Claims {
  readonly commitMs: readonly number[];
  readonly claimMs: readonly number[];
  /** The statements of a claim, without its commit. */
  readonly workMs: readonly number[];
}

async function compareClaims(engine: string, open: () => Promise<Opened>, goal: string): Promise<readonly Line[]> {
  const few = await timeClaims(open, FEW);
  const many = await timeClaims(open, MANY);
  const beside = `${MANY} waiting, ${engine} (baseline: ${FEW} waiting)`;
  return [
    {
      what: `a claim without its commit, median, ${beside}`,
      figure: median(many.workMs),
      baseline: median(few.workMs),
      unit: 'ms',
      goal,
    },
    {
      what: `a claim without its commit, p99, ${beside}`,
      figure: quantile(many.workMs, 0.99),
      baseline: quantile(few.workMs, 0.99),
      unit: 'ms',
    },
    {
      what: `a claim, median, ${MANY} waiting, ${engine} (baseline: a commit of one row)`,
      figure: median(many.claimMs),
      baseline: median(many.commitMs),
      unit: 'ms',
    },
  ];
}

/** Notes how long the work of each transaction takes, without its commit. */
function timeWork(sql: Sql, workMs: number[]): Sql {
  return {
    ...sql,
    transaction: (work, carrier) =>
      sql.transaction(async (query) => {
        const began = performance.now();
        const result = await work(query);
        workMs.push(performance.now() - began);
        return result;
      }, carrier),
  };
}

async function timeClaims(open: () => Promise<Opened>, tasks: number): Promise<Claims> {
  const { sql, end } = await open();
  try {
    await fill(sql, tasks);
    const workMs: number[] = [];
    const store = sqlTaskStore(timeWork(sql, workMs), newIds(systemClock), () => ({ type: 'finished', payload: '{}' }));
    const commitMs: number[] = [];
    const claimMs: number[] = [];
    for (let turn = -WARM_UP_CLAIMS; turn < CLAIMS; turn += 1) {
      const before = performance.now();
      await sql.transaction(async (query) => {
        const [row] = await query('UPDATE queue_rules SET weight = weight + 1 WHERE subject = $1 RETURNING subject', [
          RULE,
        ]);
        if (row === undefined) throw new Error('the baseline writes no row');
      });
      const committed = performance.now();
      const claim = await store.claim(
        LANE,
        { channel: 'main', inFlightMax: TOTAL_IN_FLIGHT },
        { owner: 'bench', at: systemClock.now() },
      );
      if (claim.outcome !== 'claimed') throw new Error(`the claim is ${claim.outcome}`);
      if (turn < 0) continue;
      commitMs.push(committed - before);
      claimMs.push(performance.now() - committed);
    }
    return { commitMs, claimMs, workMs: workMs.slice(-CLAIMS) };
  } finally {
    await end();
  }
}

/** Tasks that wait: each account has two tokens, and each token as many tasks as any other. */
async function fill(sql: Sql, tasks: number): Promise<void> {
  const now = systemClock.now();
  const numbers = 'WITH RECURSIVE n (i) AS (SELECT $1 + 0 UNION ALL SELECT i + 1 FROM n WHERE i < $2 + 0)';
  const id = "'task_' || CAST(100000000 + i AS TEXT)";
  const account = `'account_' || CAST(i % ${ACCOUNTS} AS TEXT)`;
  const token = `'token_' || CAST(i % ${TOKENS} AS TEXT)`;
  const caps = `'[{"scope":"token:' || ${token} || '","limit":${TOKEN_IN_FLIGHT}},{"scope":"total","limit":${TOTAL_IN_FLIGHT}}]'`;
  for (let from = 0; from < tasks; from += CHUNK) {
    const last = Math.min(from + CHUNK, tasks) - 1;
    await sql.transaction(async (query) => {
      await query(
        `INSERT INTO tasks (id, account_id, token_id, kind, model, order_json, admission, state, seconds, created_at,
           updated_at, in_flight_json, deadline_passed)
         ${numbers} SELECT ${id}, ${account}, ${token}, 'generation', 'Alpha-H3', '${ORDER}', 'waiting', 'queued', 5,
           ${now}, ${now}, '[]', -1 FROM n`,
        [from, last],
      );
      await query(
        `INSERT INTO waiting (task_id, lane, account_id, token_id, cost, since, start_by, caps_json, media_json)
         ${numbers} SELECT ${id}, '${LANE}', ${account}, ${token}, 5, ${now}, ${now + HOUR_MS}, ${caps},
           '{"byIndex":[]}' FROM n`,
        [from, last],
      );
    });
  }
  await sql.transaction(async (query) => {
    await query(
      `INSERT INTO queue_accounts (lane, account_id, waiting) SELECT lane, account_id, COUNT(*) FROM waiting
       GROUP BY lane, account_id`,
    );
    await query(
      `INSERT INTO queue_tokens (lane, account_id, token_id, waiting)
       SELECT lane, account_id, token_id, COUNT(*) FROM waiting GROUP BY lane, account_id, token_id`,
    );
  });
  await sql.write('INSERT INTO queue_rules (subject) VALUES ($1)', [RULE]);
  await sql.write('ANALYZE');
}

/** The same program without the queue is the baseline. */
async function measureCreates(): Promise<readonly Line[]> {
  const starts: RoundPairs[] = [];
  for (let start = 0; start < STARTS; start += 1) starts.push(await measureStart(start % 2 === 0));
  return linesOfPairs('a create that need not wait (baseline: without the queue)', joinPairs(starts), 'up to 1.03');
}

/** Both sides run at the same time, and one at a time has creates. */
async function measureStart(isOffFirst: boolean): Promise<RoundPairs> {
  const programs: BenchProgram[] = [];
  try {
    for (const enabled of isOffFirst ? [false, true] : [true, false])
      programs.push(await startBenchProgram('one program', { tasks: { queue: { enabled } } }));
    const subjects = programs.map(({ port, cpuMs }) => ({ target: { port, request: createRequest }, cpuMs }));
    for (const { target } of subjects) await closedLoop(target, CREATES.inFlight, CREATE_WARM_UP_MS);
    const [baseline, product] = (isOffFirst ? subjects : subjects.toReversed()) as [Subject, Subject];
    return await roundPairs({ baseline, product }, CREATES);
  } finally {
    for (const program of programs) await program.end();
  }
}
