import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '@reelgate/platform/clock';
import { newIds } from '@reelgate/platform/ids';
import { migrate } from '@reelgate/platform/sql/migrate';
import { openPostgres } from '@reelgate/platform/sql/postgres';
import type { Sql, SqlQuery, SqlRow, SqlValue } from '@reelgate/platform/sql/sql';
import { createDatabase } from '@reelgate/platform/testing/create-database';
import { sqlTaskStore } from '@reelgate/tasks/store/tasks/sql-task-store';
import type { TaskStore } from '@reelgate/tasks/store/task-store';
import { postgresServer } from '../servers/postgres-server.ts';
import { lockedShare } from './locked-share.ts';
import type { Line } from './table.ts';

/** Each statement takes this long, so that waiting bounds the creates, and not the processor. */
const ROUND_TRIP_MS = 40;
const CONNECTIONS = 16;
const IN_FLIGHT = 64;
const ROUND_MS = 6000;
const LIMIT = 1000;
const ONE_ROW = 1;
const MIGRATIONS = path.join(import.meta.dirname, '../../services/tasks/migrations');
const ORDER = { kind: 'generation', model: 'Alpha-H3', content: [], duration: 5, resolution: '768P', ratio: '16:9' };

interface Round {
  readonly perSecond: number;
  readonly locked: number;
}

/**
 * The writes of creates and ends of one token and one channel, on the connections of one and of two processes. The
 * baseline counts in one row for each counter, as the release before the shards did.
 */
export async function countersBench(): Promise<readonly Line[]> {
  const server = await postgresServer.start();
  if (server === undefined)
    return [{ what: 'creates and ends over shards', skipped: postgresServer.missing() ?? 'PostgreSQL did not start' }];
  try {
    const rows: Round[] = [];
    const shards: Round[] = [];
    for (const processes of [1, 2]) {
      rows.push(await measured(server.url, `rows_${processes}`, { processes, shards: ONE_ROW }));
      shards.push(await measured(server.url, `shards_${processes}`, { processes, shards: undefined }));
    }
    return [
      ...[0, 1].map((index) => ({
        what: `creates and ends, ${index + 1} × ${CONNECTIONS} connections (baseline: one row)`,
        figure: shards[index]!.perSecond,
        baseline: rows[index]!.perSecond,
        unit: '/s',
      })),
      {
        what: 'the same, two processes (baseline: one process)',
        figure: shards[1]!.perSecond,
        baseline: shards[0]!.perSecond,
        unit: '/s',
        goal: '1.7',
      },
      {
        what: 'busy connections of two processes that wait for locks (baseline: one row)',
        figure: 100 * shards[1]!.locked,
        baseline: 100 * rows[1]!.locked,
        unit: '%',
      },
    ];
  } finally {
    await server.stop();
  }
}

async function measured(
  server: string,
  name: string,
  { processes, shards }: { readonly processes: number; readonly shards: number | undefined },
): Promise<Round> {
  const database = await createDatabase(server, name);
  const direct = openPostgres(database, { connections: 1 });
  await migrate(direct, MIGRATIONS);
  const pools = Array.from({ length: processes }, () => openPostgres(database, { connections: CONNECTIONS }));
  const newId = newIds(systemClock);
  const stores = pools.map((sql) =>
    sqlTaskStore(slow(sql), newId, () => ({ type: 'finished', payload: '{}' }), shards),
  );
  const ended = new AbortController();
  try {
    const sampling = lockedShare(direct, ended.signal);
    const start = performance.now();
    const counts = await Promise.all(
      Array.from({ length: IN_FLIGHT }, async (_, index) => {
        let count = 0;
        for (; performance.now() - start < ROUND_MS; count += 1)
          await createAndEnd(stores[index % processes]!, newId('task'));
        return count;
      }),
    );
    const took = performance.now() - start;
    ended.abort();
    return { perSecond: (counts.reduce((sum, count) => sum + count, 0) * 1000) / took, locked: await sampling };
  } finally {
    ended.abort();
    await Promise.all([direct, ...pools].map((sql) => sql.close()));
  }
}

/** What a task writes, from its create to its end. */
async function createAndEnd(store: TaskStore, id: string): Promise<void> {
  const at = systemClock.now();
  const caps = [
    { scope: 'token:token_1', limit: LIMIT },
    { scope: 'total', limit: LIMIT },
  ];
  const task = { id, accountId: 'demo', tokenId: 'token_1', order: ORDER, seconds: 5, createdAt: at, owner: 'bench' };
  const begun = await store.begin({ ...task, caps } as Parameters<TaskStore['begin']>[0]);
  if (begun !== 'begun') throw new Error(`not begun: ${JSON.stringify(begun)}`);
  const attempt = { number: 1, owner: 'bench', channel: 'main', inFlightMax: LIMIT, at };
  if (!(await store.startAttempt(id, attempt))) throw new Error('the channel is full');
  const mapping = { channel: 'main', upstreamAccount: 'vendor', upstreamId: id };
  await store.accept(id, { number: 1, mapping, at, nextPollAt: at + 60_000 });
  if (!(await store.finish(id, { state: 'failed', at }))) throw new Error('the task had ended');
}

/** A database whose answers come late, one for each statement. A transaction waits before its commit too. */
function slow(sql: Sql): Sql {
  const late =
    (query: SqlQuery): SqlQuery =>
    async <R extends SqlRow>(text: string, values?: readonly SqlValue[]): Promise<R[]> => {
      const rows = await query<R>(text, values);
      await wait(ROUND_TRIP_MS);
      return rows;
    };
  return {
    ...sql,
    read: late(sql.read),
    write: late(sql.write),
    transaction: (work) =>
      sql.transaction(async (query) => {
        await wait(ROUND_TRIP_MS);
        return work(Object.assign(late(query), { changes: query.changes }));
      }),
  };
}
