import type pg from 'pg';
import { openConnections } from './postgres-connections.ts';
import type { Connections, HeldConnection } from './postgres-connections.ts';
import { postgresFault } from './postgres-faults.ts';
import { openPipeline } from './postgres-pipeline.ts';
import type { Pipeline } from './postgres-pipeline.ts';
import { POSTGRES_DEFAULTS } from './postgres-settings.ts';
import type { PostgresSettings } from './postgres-settings.ts';
import { runStatements, runWork } from './transaction.ts';
import type { Sql, SqlRow, SqlStatement, SqlValue, SqlWork } from './sql.ts';
import { StoreUnavailable } from './sql.ts';

/**
 * PostgreSQL by its URL, directly or behind a pooler in transaction mode. It uses nothing that outlives a transaction:
 * no session lock, LISTEN or temporary table, and named statements only on a connection without a pooler. A silent
 * server is given up shortly after the time limit of a statement.
 */
export function openPostgres(url: string, settings: Partial<PostgresSettings> = {}): Sql {
  const allSettings = { ...POSTGRES_DEFAULTS, ...settings };
  const connections = openConnections(url, allSettings);
  const reserved = openConnections(url, { ...allSettings, connections: 1 });
  const running = new Set<Promise<unknown>>();
  let closing: Promise<unknown> | undefined;
  const track = async <T>(begin: () => Promise<T>): Promise<T> => {
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
    (isDurable: boolean, on = connections) =>
    <R extends SqlRow>(text: string, values?: readonly SqlValue[]) =>
      track(() =>
        withConnection(on, (connection) =>
          connection.isLimited
            ? queryOn(openPipeline(connection), isDurable)<R>(text, values)
            : runTransaction(connection, (query) => query<R>(text, values)),
        ),
      );
  const transactionOn = <T>(work: (query: SqlWork) => Promise<T>): Promise<T> =>
    track(() =>
      withConnection(connections, (connection) => runTransaction(connection, (query) => runWork(work, query))),
    );
  return {
    engine: 'postgres',
    skipLocked: 'FOR UPDATE SKIP LOCKED',
    read: statement(false),
    write: statement(true),
    transaction: transactionOn,
    writeAll: (statements) =>
      track(() =>
        withConnection(connections, (connection) =>
          connection.isLimited
            ? writeTogether(openPipeline(connection), statements)
            : runTransaction(connection, (query) => runStatements(query, statements)),
        ),
      ),
    commitAhead: async (work) => ({ result: await transactionOn(work), durable: undefined }),
    commitUnsynced: transactionOn,
    pool: () => connections.state(),
    reserved: { read: statement(false, reserved), write: statement(true, reserved) },
    // at its end the pool never answers callers that still wait for a connection
    close: async () => {
      closing ??= Promise.allSettled(running).then(() => Promise.all([connections.close(), reserved.close()]));
      await closing;
    },
  };
}

/**
 * Takes a connection first, so that a fault before the statement is sent means that nothing was written. A broken
 * connection is not used again.
 */
async function withConnection<T>(
  connections: Connections,
  use: (connection: HeldConnection) => Promise<T>,
): Promise<T> {
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

/** BEGIN travels with the first statements of the work. */
async function runTransaction<T>(connection: HeldConnection, work: (query: SqlWork) => Promise<T>): Promise<T> {
  const { begin, spoil } = connection;
  const pipeline = openPipeline(connection);
  try {
    const begun = Promise.all(begin.map((text) => pipeline.send(text, []))).catch(throwFault(false));
    // the statements that travel with it fail as well
    begun.catch(() => undefined);
    const result = await work(queryOn(pipeline));
    await begun;
    const { command } = await pipeline.sendAlone('COMMIT').catch(throwFault(true));
    if (command !== 'COMMIT') throw new Error('a failed statement has rolled the transaction back');
    return result;
  } catch (error) {
    // the server rolls back when the connection ends
    if (!isBroken(error)) await pipeline.sendAlone('ROLLBACK').catch(spoil);
    throw error;
  }
}

/** Without BEGIN, the statements of one message are one transaction, which the end of the message commits. */
async function writeTogether(pipeline: Pipeline, statements: readonly SqlStatement[]): Promise<readonly number[]> {
  const results = await Promise.all(statements.map(([text, values]) => pipeline.send(text, values))).catch(
    throwFault(true),
  );
  return results.map(({ rowCount }) => rowCount ?? 0);
}

function throwFault(mayBeDone: boolean): (error: unknown) => never {
  return (error) => {
    throw postgresFault(error, mayBeDone);
  };
}

/** `isDurable`: each statement is a transaction of its own. */
function queryOn(pipeline: Pipeline, isDurable = false): SqlWork {
  const send = (text: string, values: readonly SqlValue[] = []): Promise<pg.QueryResult> =>
    (values.length === 0 ? pipeline.sendAlone(text) : pipeline.send(text, values)).catch(throwFault(isDurable));
  return Object.assign(
    async <R extends SqlRow>(text: string, values?: readonly SqlValue[]) => (await send(text, values)).rows as R[],
    { changes: async (text: string, values?: readonly SqlValue[]) => (await send(text, values)).rowCount ?? 0 },
  );
}
