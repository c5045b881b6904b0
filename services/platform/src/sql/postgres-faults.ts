import { StoreUnavailable } from './sql.ts';

/** Node's codes of a refused or broken connection. */
export const NETWORK: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
]);
/** The driver's messages for a lost connection. They have no code. */
export const GIVEN_UP = new RegExp(
  '^(Connection terminated|Connection ended|timeout exceeded when trying to connect|Query read timeout|' +
    'Client has encountered a connection error|Client was closed|Client is closed)',
);
const SQLSTATE = /^[0-9A-Z]{5}$/;
/** The server ends the connection: connection exceptions, shutdown, crash, limits of an idle session. */
const ENDING = /^(08|57P0[1-5]|25P0[34])/;
/**
 * The server did not run the statement, but could later: resources, locks, timeouts, conflicts, disk, connections, a
 * standby, rights that an operator grants, a name of a statement that it does not have.
 */
const LATER = /^(53|58|28|40001|40P01|55P03|57014|25006|26000|42P05|42501|3D000|3F000)/;
/** A conflict, a deadlock, a lock that was not free in time, or a statement that waited too long. */
const CONTENTION = /^(40001|40P01|55P03|57014)/;

/** An open connection ended: the server closed it, or it broke. */
const ENDED = /^(?:Connection (?:terminated|ended)|Client has encountered a connection error)/;
const ENDED_CODES: ReadonlySet<unknown> = new Set(['57P01', '57P02', '08006', 'ECONNRESET', 'ECONNABORTED', 'EPIPE']);

/**
 * Reports whether the connection of a statement ended, as opposed to a connection that could not be opened or is
 * silent.
 */
export function isConnectionEnded(error: unknown): boolean {
  if (!(error instanceof StoreUnavailable)) return false;
  const { code, message } = error.cause as { readonly code?: unknown; readonly message?: unknown };
  return ENDED_CODES.has(code) || ENDED.test(String(message));
}

/**
 * Classifies an error of PostgreSQL or of the connection to it. A temporary error becomes StoreUnavailable. Any other
 * error stays as it is. `mayBeDone` means that the statement was sent and could have written data.
 */
export function postgresFault(error: unknown, mayBeDone: boolean): unknown {
  if (typeof error !== 'object' || error === null) return error;
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  const said = typeof code === 'string' ? code : '';
  if (SQLSTATE.test(said) && !NETWORK.has(said)) {
    if (LATER.test(said)) return new StoreUnavailable(error, { isContention: CONTENTION.test(said) });
    return ENDING.test(said) ? new StoreUnavailable(error, { maybeWritten: mayBeDone }) : error;
  }
  return NETWORK.has(said) || GIVEN_UP.test(String(message))
    ? new StoreUnavailable(error, { maybeWritten: mayBeDone })
    : error;
}
