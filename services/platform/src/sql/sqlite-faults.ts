import { StoreUnavailable } from './store-unavailable.ts';

/** SQLite's primary result codes for a file that cannot be used now; an extended code has its primary one in the low byte. */
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
 * Classifies an error of SQLite. An error that waiting can mend becomes StoreUnavailable; any other stays as it is.
 * SQLite undoes every statement that it refuses.
 */
export function sqliteFault(error: unknown): unknown {
  const errcode: unknown =
    typeof error === 'object' && error !== null && 'errcode' in error ? error.errcode : undefined;
  return typeof errcode === 'number' && UNUSABLE.has(errcode & PRIMARY) ? new StoreUnavailable(error) : error;
}
