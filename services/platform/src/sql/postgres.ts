import pg from 'pg';
import { postgresFault } from './postgres-faults.ts';
import { runWork } from './transaction.ts';
import type { Sql, SqlRow, SqlValue, SqlWork } from './sql.ts';
import { StoreUnavailable } from './store-unavailable.ts';

const INT8_OID = 20;
const CONNECT_TIMEOUT_MS = 5000;
const STATEMENT_TIMEOUT_MS = 30_000;
/** The server ends a slow statement itself. After this further time the server counts as gone. */
const SILENCE_MS = 2000;

/**
 * PostgreSQL by its URL, through a pool of `poolSize` connections. A silent server is given up shortly after the time
 * limit of a statement.
 */
export function openPostgres(url: string, poolSize = 16, statementMs = STATEMENT_TIMEOUT_MS): Sql {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: statementMs,
    query_timeout: statementMs + SILENCE_MS,
    keepAlive: true,
    types: { getTypeParser: parserOf as pg.CustomTypesConfig['getTypeParser'] },
  });
  // the pool replaces a broken connection at the next use; without a listener its error would end the process
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  const running = new Set<Promise<unknown>>();
  let closing: Promise<unknown> | undefined;
  const tracked = async <T>(begin: () => Promise<T>): Promise<T> => {
    if (closing !== undefined) throw new StoreUnavailable('the database is closed');
    const work = begin();
    running.add(work);
    try {
      return await work;
    } finally {
      running.delete(work);
    }
  };
  const query = queryOn(pool);
  return {
    engine: 'postgres',
    skipLocked: 'FOR UPDATE SKIP LOCKED',
    read: <R extends SqlRow>(text: string, values?: readonly SqlValue[]) => tracked(() => query<R>(text, values)),
    write: <R extends SqlRow>(text: string, values?: readonly SqlValue[]) =>
      tracked(() => write<R>(pool, text, values)),
    transaction: (work) => tracked(() => transaction(pool, work)),
    // at its end the pool never answers callers that still wait for a connection
    close: async () => {
      closing ??= Promise.allSettled(running).then(() => pool.end());
      await closing;
    },
  };
}

/** Takes a connection first, so that a fault before the statement is sent means that nothing was written. */
async function write<R extends SqlRow>(pool: pg.Pool, text: string, values?: readonly SqlValue[]): Promise<R[]> {
  const client = await pool.connect().catch(throwFault(false));
  let broken: Error | undefined;
  try {
    return await queryOn(client, true)<R>(text, values);
  } catch (error) {
    broken = error instanceof StoreUnavailable ? error : undefined;
    throw error;
  } finally {
    client.release(broken);
  }
}

async function transaction<T>(pool: pg.Pool, work: (query: SqlWork) => Promise<T>): Promise<T> {
  const client = await pool.connect().catch(throwFault(false));
  let broken: Error | undefined;
  try {
    await client.query('BEGIN').catch(throwFault(false));
    const result = await runWork(work, queryOn(client));
    await client.query('COMMIT').catch(throwFault(true));
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch((failure: unknown) => {
      broken = failure instanceof Error ? failure : new Error(String(failure));
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

function throwFault(mayBeDone: boolean): (error: unknown) => never {
  return (error) => {
    throw postgresFault(error, mayBeDone);
  };
}

/** `isDurable`: each statement is a transaction of its own. */
function queryOn(on: pg.Pool | pg.PoolClient, isDurable = false): SqlWork {
  const fail = throwFault(isDurable);
  return Object.assign(
    async <R extends SqlRow>(text: string, values: readonly SqlValue[] = []) =>
      (await on.query<R>(text, [...values]).catch(fail)).rows,
    {
      changes: async (text: string, values: readonly SqlValue[] = []) =>
        (await on.query(text, [...values]).catch(fail)).rowCount ?? 0,
    },
  );
}

/** By default, the driver gives 64-bit integers as strings. */
function parserOf(oid: Parameters<typeof pg.types.getTypeParser>[0]): unknown {
  return (oid as number) === INT8_OID ? wholeNumber : pg.types.getTypeParser(oid, 'text');
}

function wholeNumber(text: string): number | bigint {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
}
