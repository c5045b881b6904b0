import type { TimeSource } from '../clock.ts';
import type { Sql } from './sql.ts';
import { StoreUnavailable } from './sql.ts';

/** A write that a store refused for now, such as one to a full disk. */
export interface WriteFault {
  /** In milliseconds since 1970. */
  readonly at: number;
  readonly error: StoreUnavailable;
}

export interface WatchedSql {
  readonly sql: Sql;
  /** Returns undefined if the last write succeeded. */
  readonly writeFault: () => WriteFault | undefined;
}

/** Wraps a database and remembers the outcome of the last write, because a full store still answers reads. */
export function watchWrites(sql: Sql, clock: TimeSource): WatchedSql {
  let fault: WriteFault | undefined;
  const watch = <T>(result: Promise<T>): Promise<T> => {
    result.then(
      () => {
        fault = undefined;
      },
      (error: unknown) => {
        if (error instanceof StoreUnavailable) fault = { at: clock.now(), error };
      },
    );
    return result;
  };
  return {
    writeFault: () => fault,
    sql: {
      ...sql,
      reserved: { ...sql.reserved, write: (text, values) => watch(sql.reserved.write(text, values)) },
      write: (text, values) => watch(sql.write(text, values)),
      transaction: (work) => watch(sql.transaction(work)),
      writeAll: (statements) => watch(sql.writeAll(statements)),
      changeAll: (statements) => watch(sql.changeAll(statements)),
      commitAhead: (work) => watch(sql.commitAhead(work)),
      commitUnsynced: (work) => watch(sql.commitUnsynced(work)),
    },
  };
}
