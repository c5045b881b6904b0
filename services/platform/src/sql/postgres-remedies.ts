import pg from 'pg';
import { describeError } from '../lifecycle/when-reachable.ts';
import { GIVEN_UP, NETWORK } from './postgres-faults.ts';
import { StoreUnavailable } from './sql.ts';

/** The parts of a URL that an operator reads, quoted as in SQL. The password is not among them. */
interface Place {
  readonly role: string;
  readonly database: string;
  readonly service: string;
}

/** Returns the action that an operator takes against a fault. */
type Remedy = (place: Place) => string;

const makeOwner: Remedy = ({ role, database }) =>
  `run ALTER DATABASE ${database} OWNER TO ${role} as a superuser; if another role owns the tables, ` +
  `run ALTER TABLE … OWNER TO ${role} for each`;

const REMEDIES: Readonly<Record<string, Remedy>> = {
  // insufficient_privilege
  42501: makeOwner,
  // invalid_schema_name: the role may not use any schema of the search path
  '3F000': makeOwner,
  // invalid_catalog_name
  '3D000': ({ role, database }) => `run CREATE DATABASE ${database} OWNER ${role} as a superuser`,
  // invalid_password, also for a role that is not there
  '28P01': ({ role, service }) =>
    `correct role and password in ${service}.database, or run CREATE ROLE ${role} LOGIN or ALTER ROLE ${role} PASSWORD`,
  // invalid_authorization_specification: the role does not exist, may not log in, or has no line in pg_hba.conf
  28000: ({ role, service }) =>
    `run CREATE ROLE ${role} LOGIN, or let pg_hba.conf admit it from this machine; if the server asks for TLS, ` +
    `add sslmode=require to ${service}.database`,
  // read_only_sql_transaction
  25006: ({ role, database, service }) =>
    `name the primary in ${service}.database; if it is the primary, run ` +
    `ALTER DATABASE ${database} RESET default_transaction_read_only and the same for the role ${role}`,
  // disk_full
  53100: () => 'free space on the disk of the server; no other step is needed',
  // too_many_connections
  53300: ({ service }) =>
    `lower ${service}.postgres.connections, raise max_connections or the CONNECTION LIMIT of the role and the ` +
    'database, or put a pooler in front',
};
const fixMissingTls: Remedy = ({ service }) => `turn ssl on at the server, or take sslmode out of ${service}.database`;
const fixCertificate: Remedy = ({ service }) =>
  `name the authority of its certificate as sslrootcert in ${service}.database, and the host as the certificate does`;
const unreachable: Remedy = ({ service }) =>
  `start the server or repair the network, or correct host and port in ${service}.database`;
const slow: Remedy = (place) =>
  `${unreachable(place)}; if it runs, look for its slow statements, or raise ${place.service}.postgres.connections`;

const NO_TLS = /^The server does not support SSL connections/;
/** Node's codes of a certificate that it does not accept, and of a failed handshake. */
const TLS = /^(CERT_|ERR_TLS|ERR_SSL|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_|HOSTNAME_MISMATCH|EPROTO)/;
/** The driver uses the same words for a connection that does not open and for one that is not free in time. */
const NOT_IN_TIME = /^timeout exceeded when trying to connect/;
/** They concern this process. */
const OWN: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'EADDRNOTAVAIL']);
const PLAIN_NAME = /^[a-z_][a-z0-9_]*$/;

/** Returns a function that adds the remedy for operators to a fault. Other errors pass unchanged. */
export function newFaultExplainer(url: string, service: string): (error: unknown) => unknown {
  const { hostname, port, pathname, username } = new URL(url);
  const role = quoteName(decodeURIComponent(username) || (pg.defaults.user ?? ''));
  const place = { role, database: quoteName(decodeURIComponent(pathname.slice(1))) || role, service };
  const where = `the database ${place.database} at ${hostname}:${port === '' ? 5432 : port} as the role ${role}`;
  return (error) => {
    if (!(error instanceof StoreUnavailable) || error.fault !== undefined) return error;
    const remedy = findRemedy(error.cause);
    if (remedy === undefined) return error;
    const { cause, maybeWritten, isContention } = error;
    const fault = {
      detail: `${service} cannot use ${where}: ${describeError(cause)}`,
      remedy: remedy(place),
    };
    return new StoreUnavailable(cause, { maybeWritten, isContention, fault });
  };
}

function findRemedy(cause: unknown): Remedy | undefined {
  if (typeof cause !== 'object' || cause === null) return undefined;
  const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown };
  const [said, text] = [String(code), String(message)];
  if (Object.hasOwn(REMEDIES, said)) return REMEDIES[said];
  if (NO_TLS.test(text)) return fixMissingTls;
  if (TLS.test(said)) return fixCertificate;
  if (NOT_IN_TIME.test(text)) return slow;
  return (NETWORK.has(said) && !OWN.has(said)) || GIVEN_UP.test(text) ? unreachable : undefined;
}

function quoteName(name: string): string {
  return name === '' || PLAIN_NAME.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}
