import pg from 'pg';
import type { NamedStatement, NamedStatements } from './postgres-statements.ts';
import type { SqlValue } from './sql.ts';

/** A connection, and the statements that its server keeps ready; none behind a pooler. */
export interface PipelineConnection {
  readonly client: pg.ClientBase;
  readonly statements: NamedStatements | undefined;
}

/** Statements of one connection. Those of the same moment travel together, in the order of their calls. */
export interface Pipeline {
  /** Sends a statement with its values. */
  send(text: string, values: readonly SqlValue[]): Promise<pg.QueryResult>;
  /** Sends a text without values, after all earlier statements were answered. */
  sendAlone(text: string): Promise<pg.QueryResult>;
}

interface QueuedStatement {
  readonly text: string;
  /** Undefined: the text travels alone. */
  readonly values: readonly SqlValue[] | undefined;
  readonly resolve: (result: pg.QueryResult) => void;
  readonly reject: (error: unknown) => void;
}

/** The driver gives undefined or null for no error. */
type QueryCallback = (error: Error | null | undefined, results: pg.QueryResult | readonly pg.QueryResult[]) => void;

/**
 * Sends what is asked in one turn of the event loop as one message, so that it costs one round trip. What is asked
 * while an answer is awaited forms the next message.
 */
export function openPipeline(connection: PipelineConnection): Pipeline {
  let waiting: QueuedStatement[] = [];
  let isSending = false;
  const drain = async (): Promise<void> => {
    // The continuations of this moment run before the tick, and add their statements.
    await new Promise<void>((resolve) => {
      process.nextTick(resolve);
    });
    while (waiting.length > 0) {
      const message = nextMessage(waiting);
      waiting = waiting.slice(message.length);
      await sendMessage(connection, message);
    }
    isSending = false;
  };
  const add = (text: string, values: QueuedStatement['values']): Promise<pg.QueryResult> =>
    new Promise((resolve, reject) => {
      waiting.push({ text, values, resolve, reject });
      if (isSending) return;
      isSending = true;
      void drain();
    });
  return { send: add, sendAlone: (text) => add(text, undefined) };
}

/** The first statements that may travel together. */
function nextMessage(waiting: readonly QueuedStatement[]): readonly QueuedStatement[] {
  const alone = waiting.findIndex(({ values }) => values === undefined);
  return alone < 0 ? waiting : waiting.slice(0, Math.max(1, alone));
}

async function sendMessage(connection: PipelineConnection, message: readonly QueuedStatement[]): Promise<void> {
  try {
    const results = await submitMessage(connection, message);
    message.forEach(({ resolve, reject }, index) => {
      const result = results[index];
      if (result === undefined) reject(new Error('the server answered fewer statements than were sent'));
      else resolve(result);
    });
  } catch (error) {
    connection.statements?.forget(
      message.map(({ text }) => text),
      error,
    );
    for (const { reject } of message) reject(error);
  }
}

function submitMessage(
  { client, statements }: PipelineConnection,
  message: readonly QueuedStatement[],
): Promise<readonly pg.QueryResult[]> {
  return new Promise((resolve, reject) => {
    const answered: QueryCallback = (error, results) => {
      if (error === undefined || error === null) resolve('rows' in results ? [results] : results);
      else reject(error);
    };
    const [first] = message;
    if (first?.values === undefined) client.query(first?.text ?? '', answered);
    else client.query(new Message(message, statements, answered));
  });
}

/**
 * Statements with one end. The server runs none of them after one that fails, so the statements after a BEGIN never run
 * outside its transaction. Without `named` no statement has a name, so that a pooler can pass them on.
 */
class Message extends pg.Query {
  override readonly submit: (connection: pg.Connection) => void;

  constructor(statements: readonly QueuedStatement[], named: NamedStatements | undefined, answered: QueryCallback) {
    super({ text: '' }, answered as (error: Error | undefined) => void);
    this.submit = (connection) => {
      const { stream } = connection;
      stream.cork();
      for (const name of named?.takeUnused() ?? []) connection.close({ type: 'S', name }, true);
      for (const { text, values = [] } of statements) {
        const { name, isNew } = named?.findName(text) ?? UNNAMED;
        if (isNew) connection.parse({ name, text, types: [] }, true);
        connection.bind({ statement: name, values: values.map(toWire) }, true);
        connection.describe({ type: 'P', name: '' }, true);
        connection.execute(null, true);
      }
      connection.sync();
      stream.uncork();
    };
  }
}

const UNNAMED: NamedStatement = { name: '', isNew: true };

function toWire(value: SqlValue): string | null {
  return value === null ? null : String(value);
}
