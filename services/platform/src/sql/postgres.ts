import type pg from 'pg';
import { openConnections } from './postgres-connections.ts';
import type { Connections, HeldConnection } from './postgres-connections.ts';
import { postgresFault } from './postgres-faults.ts';
import { POSTGRES_DEFAULTS } from './postgres-settings.ts';
import type { PostgresSettings } from './postgres-settings.ts';
import { runWork } from './transaction.ts';
import type { Sql, SqlRow, SqlValue, SqlWork } from './sql.ts';
import { StoreUnavailable } from './store-unavailable.ts';

/**
 * PostgreSQL by its URL, directly or behind a pooler in transaction mode. It uses nothing that outlives a transaction:
 * no named statement, session lock, LISTEN or temporary table. A silent server is given up shortly after the time
 * limit of a statement.
 */
export function openPostgres(url: string, settings: Partial<PostgresSettings> = {}): Sql {
  const connections = openConnections(url, { ...POSTGRES_DEFAULTS, ...settings });
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
  const statement =
    (isDurable: boolean) =>
    <R extends SqlRow>(text: string, values?: readonly SqlValue[]) =>
      tracked(() =>
        held(connections, (connection) =>
          connection.isLimited
            ? queryOn(connection.client, isDurable)<R>(text, values)
            : transaction(connection, (query) => query<R>(text, values)),
        ),
      );
  return {
    engine: 'postgres',
    skipLocked: 'FOR UPDATE SKIP LOCKED',
    read: statement(false),
    write: statement(true),
    transaction: (work) =>
      tracked(() => held(connections, (connection) => transaction(connection, (query) => runWork(work, query)))),
    // at its end the pool never answers callers that still wait for a connection
    close: async () => {
      closing ??= Promise.allSettled(running).then(() => connections.close());
      await closing;
    },
  };
}

/**
 * Takes a connection first, so that a fault before the statement is sent means that nothing was written. A broken
 * connection is not used again.
 */
async function held<T>(connections: Connections, use: (connection: HeldConnection) => Promise<T>): Promise<T> {
  const connection = await connections.acquire();
  try {
    return await use(connection);
  } catch (error) {
    if (isBroken(error)) connection.spoil(error);
    throw error;
  } finally {
    connection.release();
  }
}

/** The server reports an error on a sound connection. Any other fault is one of the connection. */
function isBroken(error: unknown): error is StoreUnavailable {
  return error instanceof StoreUnavailable && (error.cause as { readonly severity?: unknown }).severity !== 'ERROR';
}

async function transaction<T>(
  { client, begin, spoil }: HeldConnection,
  work: (query: SqlWork) => Promise<T>,
): Promise<T> {
  try {
    await client.query(begin).catch(throwFault(false));
    const result = await work(queryOn(client));
    await client.query('COMMIT').catch(throwFault(true));
    return result;
  } catch (error) {
    // the server rolls back when the connection ends
    if (!isBroken(error)) await client.query('ROLLBACK').catch(spoil);
    throw error;
  }
}

function throwFault(mayBeDone: boolean): (error: unknown) => never {
  return (error) => {
    throw postgresFault(error, mayBeDone);
  };
}

/** `isDurable`: each statement is a transaction of its own. */
function queryOn(on: pg.PoolClient, isDurable = false): SqlWork {
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
