import { parseDuration } from '../config/units.ts';

/** The settings by which a service uses its PostgreSQL. */
export interface PostgresSettings {
  /** The connections of one process at most. */
  readonly connections: number;
  /** The maximum number of calls that wait for a connection. Further calls are refused immediately. */
  readonly queue: number;
  /** The longest time in milliseconds that a call waits for a connection, free or new. */
  readonly connectMs: number;
  readonly statementMs: number;
  /** The longest time in milliseconds that a statement waits for a lock. */
  readonly lockMs: number;
  /** The time in milliseconds for which the server keeps a transaction while its process sends no statement. */
  readonly idleInTransactionMs: number;
}

export const POSTGRES_DEFAULTS: PostgresSettings = {
  connections: 16,
  queue: 1000,
  connectMs: 5000,
  statementMs: 30_000,
  lockMs: 10_000,
  idleInTransactionMs: 30_000,
};

const count = (fallback: number, maximum: number, what: string) => ({
  type: 'integer',
  minimum: 1,
  maximum,
  default: fallback,
  description: `a whole number of ${what} from 1 to ${maximum}`,
});
const time = (fallback: string) => ({ type: 'string', format: 'duration', default: fallback });

/** The `postgres` of a service. With the embedded store it has no effect. */
export const postgresSchema = {
  type: 'object',
  description: 'an object such as { connections: 16, statement_timeout: 30s }',
  additionalProperties: false,
  default: {},
  properties: {
    connections: count(POSTGRES_DEFAULTS.connections, 1000, 'connections'),
    queue: count(POSTGRES_DEFAULTS.queue, 1_000_000, 'waiting calls'),
    connect_timeout: time('5s'),
    statement_timeout: time('30s'),
    lock_timeout: time('10s'),
    idle_in_transaction_timeout: time('30s'),
  },
} as const;

/** As the checked configuration has it. */
export interface PostgresEntry {
  readonly connections: number;
  readonly queue: number;
  readonly connect_timeout: string;
  readonly statement_timeout: string;
  readonly lock_timeout: string;
  readonly idle_in_transaction_timeout: string;
}

/** Fills in the defaults, which an unchecked configuration of a test lacks. */
export function postgresSettings(entry: Partial<PostgresEntry> = {}): PostgresSettings {
  const ms = (text: string | undefined, fallback: number): number =>
    (text === undefined ? undefined : parseDuration(text)) ?? fallback;
  return {
    connections: entry.connections ?? POSTGRES_DEFAULTS.connections,
    queue: entry.queue ?? POSTGRES_DEFAULTS.queue,
    connectMs: ms(entry.connect_timeout, POSTGRES_DEFAULTS.connectMs),
    statementMs: ms(entry.statement_timeout, POSTGRES_DEFAULTS.statementMs),
    lockMs: ms(entry.lock_timeout, POSTGRES_DEFAULTS.lockMs),
    idleInTransactionMs: ms(entry.idle_in_transaction_timeout, POSTGRES_DEFAULTS.idleInTransactionMs),
  };
}
