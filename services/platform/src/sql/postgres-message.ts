import pg from 'pg';
import type { AnswerColumn, NamedStatements } from './postgres-statements.ts';
import { newMessageWriter } from './postgres-wire.ts';
import type { SqlRow, SqlStatement, SqlValue } from './sql.ts';

/** The answer to one statement. */
export interface StatementResult {
  /** `COMMIT` or `INSERT`, for example. */
  readonly command: string;
  readonly rows: readonly SqlRow[];
  /** The rows that it returned or changed. */
  readonly rowCount: number;
}

type Callback = (error: Error | null | undefined, results: readonly StatementResult[]) => void;
type TypeId = Parameters<typeof pg.types.getTypeParser>[0];
type RowDescription = { readonly fields: readonly { readonly name: string; readonly dataTypeID: TypeId }[] };

const INT8_OID = 20;
const COMMAND = /^([A-Z]+)(?:.* (\d+))?/;
const NO_COLUMNS: readonly AnswerColumn[] = [];

/**
 * Statements with one common end, as one sequence of bytes. After a failed statement the server skips the rest, so the
 * statements after a BEGIN never run outside its transaction. Without `named` the statements have no names, so that a
 * pooler can pass them on. The server describes the columns of a named statement once, because it refuses a statement
 * if its columns have changed.
 *
 * The driver calls these methods for the messages of the server.
 */
export class PostgresMessage {
  callback: Callback;
  readonly #statements: readonly SqlStatement[];
  readonly #named: NamedStatements | undefined;
  /** The name of each statement, empty for a statement without a name. */
  readonly #names: string[] = [];
  readonly #results: StatementResult[] = [];
  #columns: readonly AnswerColumn[] | undefined;
  #rows: SqlRow[] = [];
  #unreadable: Error | undefined;

  constructor(statements: readonly SqlStatement[], named: NamedStatements | undefined, callback: Callback) {
    this.#statements = statements;
    this.#named = named;
    this.callback = callback;
  }

  submit({ stream }: pg.Connection): void {
    const writer = newMessageWriter();
    for (const name of this.#named?.takeUnused() ?? []) writer.close(name);
    for (const [text, values] of this.#statements) {
      const statement = this.#named?.findName(text);
      const name = statement?.name ?? '';
      this.#names.push(name);
      if (statement?.isNew !== false) writer.parse(name, text);
      writer.bind(name, values.map(toWire));
      if (this.#named?.columns.get(name) === undefined) writer.describe();
      writer.execute();
    }
    stream.write(writer.sync());
  }

  handleRowDescription({ fields }: RowDescription): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({ name, read: findReader(dataTypeID) }));
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    this.#columns ??= this.#named?.columns.get(this.#name()) ?? NO_COLUMNS;
    try {
      this.#rows.push(toRow(this.#columns, fields));
    } catch (error) {
      this.#unreadable ??= error instanceof Error ? error : new Error(String(error));
    }
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const [, command = '', rowCount = '0'] = COMMAND.exec(text) ?? [];
    this.#end({ command, rows: this.#rows, rowCount: Number(rowCount) });
  }

  handleEmptyQuery(): void {
    this.#end({ command: '', rows: [], rowCount: 0 });
  }

  handleError(error: Error): void {
    this.callback(error, []);
  }

  handleReadyForQuery(): void {
    this.callback(this.#unreadable, this.#results);
  }

  handlePortalSuspended(): void {
    // no statement asks for a part of its rows
  }

  handleCopyInResponse(connection: pg.Connection): void {
    (connection as unknown as { sendCopyFail(reason: string): void }).sendCopyFail('no statement copies rows');
  }

  handleCopyData(): void {
    // no statement copies rows
  }

  #name(): string {
    return this.#names[this.#results.length] ?? '';
  }

  #end(result: StatementResult): void {
    const name = this.#name();
    if (name !== '' && this.#named?.columns.get(name) === undefined)
      this.#named?.columns.set(name, this.#columns ?? NO_COLUMNS);
    this.#results.push(result);
    this.#columns = undefined;
    this.#rows = [];
  }
}

function toRow(columns: readonly AnswerColumn[], fields: readonly (string | null)[]): SqlRow {
  const row: Record<string, SqlValue> = {};
  for (let index = 0; index < fields.length; index += 1) {
    const [column, field = null] = [columns[index], fields[index]];
    if (column === undefined) throw new Error('the server sent more columns than it had described');
    row[column.name] = field === null ? null : (column.read(field) as SqlValue);
  }
  return row;
}

/** Returns the function that reads a value of the type. By default, the driver returns 64-bit integers as strings. */
export function findReader(oid: TypeId): AnswerColumn['read'] {
  return (oid as number) === INT8_OID
    ? parseWholeNumber
    : (pg.types.getTypeParser(oid, 'text') as AnswerColumn['read']);
}

function parseWholeNumber(text: string): number | bigint {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
}

function toWire(value: SqlValue): string | null {
  return value === null ? null : String(value);
}
