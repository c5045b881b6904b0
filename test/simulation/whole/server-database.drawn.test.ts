import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import type { SqlRow } from '@reelgate/platform/sql/sql';
import pg from 'pg';
import { seeded } from '../../harness/seeded.ts';
import { describeWith } from '../../servers/describe-with.ts';
import { postgresServer } from '../../servers/postgres-server.ts';
import { openDraws } from './draws.ts';
import { openScheduler } from './scheduler.ts';
import { DEADLOCK_MS, openServerDatabase } from './server-database.ts';
import type { ServerTransaction } from './server-database.ts';

const SEQUENCES = 100;
const STEPS = 14;
/** Of two that wait for one row, PostgreSQL lets either go on first, so there is no third connection. */
const CONNECTIONS = ['one', 'two'] as const;
/** PostgreSQL has answered, or waits for a lock, within this time. */
const SETTLED_MS_MAX = 10_000;
const REAL_DEADLOCK_MS = 100;
const TABLE = `CREATE TABLE things (
  id TEXT PRIMARY KEY, name TEXT UNIQUE, state TEXT NOT NULL, used BIGINT NOT NULL
)`;
const FIRST_ROWS =
  "INSERT INTO things VALUES ('a', 'n-a', 'open', 0), ('b', 'n-b', 'open', 0), ('c', 'n-c', 'open', 0)";
const ALL = 'SELECT id, name, state, used FROM things ORDER BY id';

const DEADLOCK = 'refused for a deadlock';
/** What a statement has answered so far. */
type Said = 'waits' | 'refused for its key' | typeof DEADLOCK | readonly unknown[][];

/** A server with a few connections, each in a transaction. */
interface Compared {
  /** Sends a statement, or the end of a transaction and the begin of the next one. */
  send(connection: number, text: string): void;
  /** Returns the answers of all connections after each has answered, or waits for another. */
  settle(): Promise<readonly (Said | undefined)[]>;
  /** Lets the time of a deadlock go by. */
  passDeadlock(): Promise<void>;
  readAll(): Promise<readonly unknown[][]>;
  close(): Promise<void>;
}

type Draw = ReturnType<typeof seeded>;

/** The statements that the stores are made of: conditions, counters, claims, locks and upserts. */
function drawStatement(draw: Draw): string {
  const id = draw.pick(['a', 'b', 'c', 'd']);
  return draw.pick([
    `UPDATE things SET used = used + 1 WHERE id = '${id}' RETURNING id, used`,
    `UPDATE things SET used = used WHERE id = '${id}' RETURNING id, used`,
    `UPDATE things SET state = 'ended' WHERE id = '${id}' AND state = 'open' RETURNING id`,
    `UPDATE things SET state = 'open' WHERE id = '${id}' AND used < 3 RETURNING id, used`,
    `UPDATE things SET name = 'fresh-${draw.whole(1, 2)}' WHERE id = '${id}' AND name NOT LIKE 'fresh%' RETURNING id`,
    `DELETE FROM things WHERE id = '${id}' AND name NOT LIKE 'fresh%' RETURNING id, used`,
    `INSERT INTO things VALUES ('${id}', 'n-${id}', 'open', 0) RETURNING id`,
    `INSERT INTO things VALUES ('${id}', 'n-${id}', 'open', 0) ON CONFLICT DO NOTHING RETURNING id`,
    `INSERT INTO things VALUES ('${id}', 'n-${id}', 'open', 0)
       ON CONFLICT (id) DO UPDATE SET used = things.used + 10 RETURNING id, used`,
    `SELECT id, state, used FROM things WHERE id IN ('a', '${id}') ORDER BY id FOR UPDATE`,
    `SELECT id, used FROM things WHERE state = 'open' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED`,
    `UPDATE things SET state = 'taken' WHERE id IN (
       SELECT id FROM things WHERE state = 'open' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id`,
    `UPDATE things SET state = 'taken' WHERE state = 'open' AND id = (
       SELECT id FROM things WHERE state = 'open' ORDER BY id LIMIT 1) RETURNING id`,
    `SELECT id, name, state, used FROM things ORDER BY id`,
    'COMMIT',
    'COMMIT',
    'COMMIT',
    'ROLLBACK',
  ]);
}

async function openModel(): Promise<Compared> {
  const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-server-'));
  const scheduler = openScheduler({ draws: openDraws(1), hasLateTimers: false });
  const database = openServerDatabase({
    file: path.join(folder, 'one.sqlite'),
    now: scheduler.now,
    after: (ms, run) => scheduler.after(ms, scheduler.world, run),
  });
  await database.define(async (query) => {
    for (const text of [TABLE, FIRST_ROWS]) await query(text);
  });
  const open: ServerTransaction[] = CONNECTIONS.map(() => database.begin());
  const said: (Said | undefined)[] = CONNECTIONS.map(() => undefined);
  return {
    send: (connection, text) => {
      const transaction = open[connection]!;
      if (text === 'COMMIT' || text === 'ROLLBACK') {
        if (text === 'COMMIT') transaction.commit();
        else transaction.rollback();
        open[connection] = database.begin();
        said[connection] = [];
        return;
      }
      said[connection] = 'waits';
      transaction.rows(text).then(
        (rows) => {
          said[connection] = toLists(rows);
        },
        (error: unknown) => {
          said[connection] = nameRefusal(error);
        },
      );
    },
    settle: async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return [...said];
    },
    passDeadlock: async () => {
      const until = scheduler.now() + DEADLOCK_MS;
      scheduler.after(DEADLOCK_MS, scheduler.world, () => undefined);
      await scheduler.run(() => scheduler.now() >= until);
    },
    readAll: async () => toLists(database.read(ALL)),
    close: async () => {
      database.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function openReal(url: string): Promise<Compared> {
  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client(url);
    await client.connect();
    return client;
  };
  const [observer, ...clients] = await Promise.all([connect(), ...CONNECTIONS.map(connect)]);
  for (const text of ['DROP TABLE IF EXISTS things', TABLE, FIRST_ROWS]) await observer.query(text);
  const pids: number[] = [];
  for (const client of clients) {
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    pids.push(rows[0]!.pid);
    await client.query(`SET deadlock_timeout = ${REAL_DEADLOCK_MS}`);
    await client.query('BEGIN');
  }
  const said: (Said | undefined)[] = CONNECTIONS.map(() => undefined);
  let sent = 0;
  const isWaiting = async (connection: number): Promise<boolean> => {
    const { rows } = await observer.query<{ blockers: number }>(
      'SELECT cardinality(pg_blocking_pids($1)) AS blockers',
      [pids[connection]],
    );
    return rows[0]!.blockers > 0;
  };
  const until = async (isReached: () => Promise<boolean>): Promise<void> => {
    const end = Date.now() + SETTLED_MS_MAX;
    while (!(await isReached())) if (Date.now() > end) throw new Error('PostgreSQL does not answer');
  };
  return {
    send: (connection, text) => {
      sent = connection;
      said[connection] = 'waits';
      const isEnd = text === 'COMMIT' || text === 'ROLLBACK';
      clients[connection]!.query<SqlRow>(isEnd ? `${text}; BEGIN` : text).then(
        (result) => {
          said[connection] = isEnd ? [] : toLists(result.rows);
        },
        (error: unknown) => {
          said[connection] = nameRefusal(error);
        },
      );
    },
    settle: async () => {
      // an answer can let others go on, so all are looked at until none has changed
      for (let before = ''; before !== JSON.stringify(said);) {
        before = JSON.stringify(said);
        await until(async () => said[sent] !== 'waits' || (await isWaiting(sent)));
        for (const connection of CONNECTIONS.keys())
          await until(async () => said[connection] !== 'waits' || (await isWaiting(connection)));
      }
      return [...said];
    },
    passDeadlock: async () => {
      const before = said.filter((one) => one === 'waits').length;
      await until(async () => {
        await observer.query('SELECT pg_sleep(0.01)');
        return said.filter((one) => one === 'waits').length < before;
      });
    },
    readAll: async () => toLists((await observer.query<SqlRow>(ALL)).rows),
    close: async () => {
      await Promise.all([observer, ...clients].map((client) => client.end()));
    },
  };
}

function toLists(rows: readonly SqlRow[]): readonly unknown[][] {
  // the driver reads a bigint as a text
  return rows.map((row) => Object.values(row).map(String)).toSorted();
}

function isRefused(said: Said | undefined): boolean {
  return typeof said === 'string' && said.startsWith('refused');
}

function nameRefusal(error: unknown): Said {
  const { code, message } = error as { readonly code?: string; readonly message: string };
  if (code === '40P01') return DEADLOCK;
  if (code === '23505' || message.startsWith('UNIQUE constraint failed')) return 'refused for its key';
  throw error;
}

/** Runs a drawn sequence on both. Returns what happened, and the first difference. */
async function compare(seed: number, url: string): Promise<{ readonly told: string[]; readonly isEqual: boolean }> {
  const draw = seeded(seed);
  const both = [await openModel(), await openReal(url)] as const;
  const told: string[] = [];
  let isEqual = true;
  const lookAt = async (what: string): Promise<readonly (Said | undefined)[]> => {
    const [model, real] = [await both[0].settle(), await both[1].settle()];
    told.push(`${what}: ${JSON.stringify(model)}`);
    if (JSON.stringify(model) !== JSON.stringify(real)) {
      told.push(`but PostgreSQL: ${JSON.stringify(real)}`);
      isEqual = false;
    }
    return model;
  };
  const act = async (connection: number, text: string): Promise<readonly (Said | undefined)[]> => {
    for (const one of both) one.send(connection, text);
    return lookAt(`${CONNECTIONS[connection]} ${text}`);
  };
  let said: readonly (Said | undefined)[] = CONNECTIONS.map(() => undefined);
  const listFree = (): number[] => [...said.keys()].filter((connection) => said[connection] !== 'waits');
  for (let step = 0; isEqual && step < STEPS; step += 1) {
    const free = listFree();
    if (free.length === 0) break;
    const connection = draw.pick(free);
    said = await act(connection, isRefused(said[connection]) ? 'ROLLBACK' : drawStatement(draw));
  }
  const open = new Set(CONNECTIONS.keys());
  while (isEqual && open.size > 0) {
    const free = listFree().find((connection) => open.has(connection));
    if (free === undefined) break;
    open.delete(free);
    said = await act(free, isRefused(said[free]) ? 'ROLLBACK' : 'COMMIT');
  }
  if (isEqual && open.size > 0) {
    // both wait for one another: the one whose second ends first is refused, and a busy machine can swap them
    await Promise.all(both.map((one) => one.passDeadlock()));
    const refused = await Promise.all(
      both.map(async (one) => (await one.settle()).filter((said) => said === DEADLOCK)),
    );
    told.push(`the time of a deadlock goes by: ${JSON.stringify(refused)}`);
    isEqual = JSON.stringify(refused) === JSON.stringify([[DEADLOCK], [DEADLOCK]]);
    await Promise.all(both.map((one) => one.close()));
    return { told, isEqual };
  }
  const [model, real] = [await both[0].readAll(), await both[1].readAll()];
  told.push(`rows: ${JSON.stringify(model)}`);
  if (JSON.stringify(model) !== JSON.stringify(real)) {
    told.push(`but PostgreSQL: ${JSON.stringify(real)}`);
    isEqual = false;
  }
  await Promise.all(both.map((one) => one.close()));
  return { told, isEqual };
}

describeWith(postgresServer, 'drawn transactions under way at once', (url) => {
  test(
    'the simulated server answers as PostgreSQL does, and leaves the same rows',
    async () => {
      const seen = { waits: 0, deadlocks: 0 };
      for (let seed = 1; seed <= SEQUENCES; seed += 1) {
        const { told, isEqual } = await compare(seed, url());
        const history = told.join('\n');
        expect({ seed, history: isEqual ? '' : history }).toEqual({ seed, history: '' });
        seen.waits += Number(history.includes('"waits"'));
        seen.deadlocks += Number(history.includes('deadlock'));
      }
      // the sequences are worth something: transactions wait for one another, and also in a circle
      expect(seen.waits).toBeGreaterThan(SEQUENCES / 4);
      expect(seen.deadlocks).toBeGreaterThan(0);
    },
    SEQUENCES * 3000,
  );
});
