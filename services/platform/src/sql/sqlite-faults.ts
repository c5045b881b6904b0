import { StoreUnavailable } from './sql.ts';

/**
 * SQLite's primary result codes of a file that cannot be used now. The low byte of an extended code is its primary
 * code.
 */
const UNUSABLE: ReadonlySet<number> = new Set([
  5, // SQLITE_BUSY
  6, // SQLITE_LOCKED
  7, // SQLITE_NOMEM
  8, // SQLITE_READONLY
  10, // SQLITE_IOERR
  13, // SQLITE_FULL
  14, // SQLITE_CANTOPEN
  15, // SQLITE_PROTOCOL
]);
const PRIMARY = 0xff;

/**
 * Classifies an error of SQLite. A temporary error becomes StoreUnavailable. Any other error stays as it is. SQLite
 * rolls back every failed statement.
 */
export function sqliteFault(error: unknown): unknown {
  const errcode: unknown =
    typeof error === 'object' && error !== null && 'errcode' in error ? error.errcode : undefined;
  return typeof errcode === 'number' && UNUSABLE.has(errcode & PRIMARY) ? new StoreUnavailable(error) : error;
}
