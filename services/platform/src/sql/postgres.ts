import { openConnections } from './postgres-connections.ts';
import type { Connections, HeldConnection } from './postgres-connections.ts';
import { isConnectionEnded, postgresFault } from './postgres-faults.ts';
import type { StatementResult } from './postgres-message.ts';
import { newPipeline } from './postgres-pipeline.ts';
import type { Pipeline } from './postgres-pipeline.ts';
import { newFaultExplainer } from './postgres-remedies.ts';
import { POSTGRES_DEFAULTS } from './postgres-settings.ts';
import type { PostgresSettings } from './postgres-settings.ts';
import { runWork } from './transaction.ts';
import type { Sql, SqlRow, SqlRunner, SqlStatement, SqlValue, SqlWork } from './sql.ts';
import { StoreUnavailable } from './sql.ts';

/**
 * Opens PostgreSQL by its URL, directly or behind a pooler in transaction mode. It uses no feature that outlives a
 * transaction: no session lock, LISTEN or temporary table, and named statements only on a connection without a pooler.
 * A silent server is given up shortly after the time limit of a statement. Faults that an operator can repair name the
 * service.
 */
export function openPostgres(url: string, settings: Partial<PostgresSettings> = {}, service = 'reelgate'): Sql {
  const allSettings = { ...POSTGRES_DEFAULTS, ...settings };
  const connections = openConnections(url, allSettings);
  const reserved = openConnections(url, { ...allSettings, connections: 1 });
  const explain = newFaultExplainer(url, service);
  const running = new Set<Promise<unknown>>();
  let closing: Promise<unknown> | undefined;
  const track = async <T>(begin: () => Promise<T>): Promise<T> => {
    if (closing !== undefined) throw new StoreUnavailable('the database is closed');
    const work = begin();
    running.add(work);
    try {
      return await work;
    } catch (error) {
      throw explain(error);
    } finally {
      running.delete(work);
    }
  };
  const statement =
    (isDurable: boolean, on = connections) =>
    <R extends SqlRow>(text: string, values?: readonly SqlValue[]) =>
      track(() =>
        withConnection(on, async (connection) => {
          const pipeline = newPipeline(connection);
          // a text without values can have several statements, which travel alone
          if (values !== undefined && values.length > 0)
            return (await sendTogether(connection, pipeline, [[text, values]], isDurable))[0]?.rows as R[];
          return connection.isLimited
            ? queryOn(pipeline, isDurable)<R>(text)
            : runTransaction(connection, (query) => query<R>(text));
        }),
      );
  const read = readTwice(statement(false));
  const transactionOn = <T>(work: (query: SqlWork) => Promise<T>): Promise<T> =>
    track(() => withConnection(connections, (connection) => runTransaction(connection, work)));
  const sendAtOnce = (statements: readonly SqlStatement[]): Promise<readonly StatementResult[]> =>
    track(() =>
      withConnection(connections, (connection) => sendTogether(connection, newPipeline(connection), statements, true)),
    );
  return {
    engine: 'postgres',
    skipLocked: 'FOR UPDATE SKIP LOCKED',
    forUpdate: 'FOR UPDATE',
    read,
    write: statement(true),
    transaction: transactionOn,
    writeAll: async (statements) => (await sendAtOnce(statements)).map(({ rows }) => rows),
    changeAll: async (statements) => (await sendAtOnce(statements)).map(({ rowCount }) => rowCount),
    commitAhead: async (work) => ({ result: await transactionOn(work), durable: undefined }),
    commitUnsynced: transactionOn,
    emptyLog: async () => true,
    pool: () => connections.state(),
    reserved: { read: readTwice(statement(false, reserved)), write: statement(true, reserved) },
    // at its end the pool never answers callers that still wait for a connection
    close: async () => {
      closing ??= Promise.allSettled(running).then(() => Promise.all([connections.close(), reserved.close()]));
      await closing;
    },
  };
}

/** Repeats a read over another connection, once, if its connection ends. A read has changed no data. */
function readTwice(read: Sql['read']): Sql['read'] {
  return <R extends SqlRow>(text: string, values?: readonly SqlValue[]) =>
    read<R>(text, values).catch((error: unknown) => {
      if (!isConnectionEnded(error)) throw error;
      return read<R>(text, values);
    });
}

/**
 * Takes a connection first, so that a fault before the statement is sent means that no data was written. A broken
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

/** The server reports an error on a sound connection. Any other fault concerns the connection. */
function isBroken(error: unknown): error is StoreUnavailable {
  return error instanceof StoreUnavailable && (error.cause as { readonly severity?: unknown }).severity !== 'ERROR';
}

/** BEGIN travels with the first statements of the work, and COMMIT with its last ones. */
async function runTransaction<T>(connection: HeldConnection, work: (query: SqlWork) => Promise<T>): Promise<T> {
  const { begin, spoil } = connection;
  const pipeline = newPipeline(connection);
  let begun: Promise<unknown> | undefined;
  const open = (): void => {
    if (begun !== undefined) return;
    begun = Promise.all(begin.map((text) => pipeline.send(text, []))).catch(throwFault(false));
    // the statements that travel with it fail as well
    begun.catch(() => undefined);
  };
  const commit = async (last: readonly SqlStatement[]): Promise<void> => {
    if (begun !== undefined) await sendLast(pipeline, last, begun);
    else if (last.length > 0) await sendTogether(connection, pipeline, last, true);
  };
  try {
    return await runWork(work, queryOn(pipeline, false, open), commit);
  } catch (error) {
    // the server rolls back when the connection ends
    if (begun !== undefined && !isBroken(error)) await pipeline.sendAlone('ROLLBACK').catch(spoil);
    throw error;
  }
}

async function sendLast(
  pipeline: Pipeline,
  statements: readonly SqlStatement[],
  begun: Promise<unknown>,
): Promise<void> {
  const sent = [...statements, COMMIT].map(([text, values]) => pipeline.send(text, values));
  const results = await Promise.all(sent).catch(throwFault(true));
  await begun;
  if (results.at(-1)?.command !== 'COMMIT') throw new Error('a failed statement has rolled the transaction back');
}

const COMMIT: SqlStatement = ['COMMIT', []];

/**
 * Sends a transaction in one message. Without BEGIN, its statements are one transaction, which the end of the message
 * commits. A connection without limits sets them after a BEGIN.
 */
async function sendTogether(
  { begin, isLimited, spoil }: HeldConnection,
  pipeline: Pipeline,
  statements: readonly SqlStatement[],
  isDurable: boolean,
): Promise<readonly StatementResult[]> {
  const before = isLimited ? [] : begin.map((text): SqlStatement => [text, []]);
  const message = isLimited ? statements : [...before, ...statements, COMMIT];
  try {
    const results = await Promise.all(message.map(([text, values]) => pipeline.send(text, values))).catch(
      throwFault(isDurable),
    );
    return results.slice(before.length, before.length + statements.length);
  } catch (error) {
    if (!isLimited && !isBroken(error)) await pipeline.sendAlone('ROLLBACK').catch(spoil);
    throw error;
  }
}

function throwFault(mayBeDone: boolean): (error: unknown) => never {
  return (error) => {
    throw postgresFault(error, mayBeDone);
  };
}

/** `isDurable`: each statement is a transaction of its own. `open` runs before each. */
function queryOn(pipeline: Pipeline, isDurable = false, open = (): void => undefined): SqlRunner {
  const send = (text: string, values: readonly SqlValue[] = []): Promise<StatementResult> => {
    open();
    return (values.length === 0 ? pipeline.sendAlone(text) : pipeline.send(text, values)).catch(throwFault(isDurable));
  };
  return Object.assign(
    async <R extends SqlRow>(text: string, values?: readonly SqlValue[]) => (await send(text, values)).rows as R[],
    { changes: async (text: string, values?: readonly SqlValue[]) => (await send(text, values)).rowCount },
  );
}
