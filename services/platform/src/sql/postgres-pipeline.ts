import type pg from 'pg';
import { waitForContinuations } from '../batcher.ts';
import { PostgresMessage } from './postgres-message.ts';
import type { StatementResult } from './postgres-message.ts';
import type { NamedStatements } from './postgres-statements.ts';
import type { SqlRow, SqlValue } from './sql.ts';

/** A connection, and the statements that its server keeps ready. Behind a pooler the server keeps no statements. */
export interface PipelineConnection {
  readonly client: pg.ClientBase;
  readonly statements: NamedStatements | undefined;
}

/** Statements of one connection. Those of the same moment travel together, in the order of their calls. */
export interface Pipeline {
  /** Sends a statement with its values. */
  send(text: string, values: readonly SqlValue[]): Promise<StatementResult>;
  /** Sends a text without values, after all earlier statements were answered. */
  sendAlone(text: string): Promise<StatementResult>;
}

interface QueuedStatement {
  readonly text: string;
  /** Undefined for a text without parameters. */
  readonly values: readonly SqlValue[] | undefined;
  readonly resolve: (result: StatementResult) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Sends the statements of one tick of the event loop as one message, so that they cost one round trip. Statements that
 * arrive while an answer is awaited form the next message.
 */
export function newPipeline(connection: PipelineConnection): Pipeline {
  let waiting: QueuedStatement[] = [];
  let isSending = false;
  const drain = async (): Promise<void> => {
    await waitForContinuations();
    while (waiting.length > 0) {
      const message = nextMessage(waiting);
      waiting = waiting.slice(message.length);
      await sendMessage(connection, message);
    }
    isSending = false;
  };
  const add = (text: string, values: QueuedStatement['values']): Promise<StatementResult> =>
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
): Promise<readonly StatementResult[]> {
  const [first] = message;
  if (first?.values === undefined) return sendText(client, first?.text ?? '');
  return new Promise((resolve, reject) => {
    const texts = message.map(({ text, values = [] }) => [text, values] as const);
    client.query(
      new PostgresMessage(texts, statements, (error, results) => {
        if (error === undefined || error === null) resolve(results);
        else reject(error);
      }),
    );
  });
}

async function sendText(client: pg.ClientBase, text: string): Promise<readonly StatementResult[]> {
  // the driver returns a list for a text of several statements
  const answer: pg.QueryResult | readonly pg.QueryResult[] = await client.query<SqlRow>(text);
  const results = 'rows' in answer ? [answer] : answer;
  return results.map(({ command, rows, rowCount }) => ({ command, rows: rows as SqlRow[], rowCount: rowCount ?? 0 }));
}
