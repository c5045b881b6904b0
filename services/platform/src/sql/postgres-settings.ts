import { duration, readSection, whole } from '../config/settings.ts';
import type { ValuesOf } from '../config/settings.ts';

/** The `postgres` of a service, by which it uses its PostgreSQL. With the embedded store it has no effect. */
export const postgresKeys = {
  connections: whole('the most connections of one process', { default: 16, max: 1000, of: 'connections' }),
  queue: whole('the most calls that wait for a connection; one more is refused at once', {
    default: 1000,
    max: 1_000_000,
    of: 'waiting calls',
  }),
  connect_timeout: duration('how long a call waits for a connection, free or new', {
    default: '5s',
    min: '1ms',
    as: 'connectMs',
  }),
  statement_timeout: duration('the longest statement', { default: '30s', min: '1ms', as: 'statementMs' }),
  lock_timeout: duration('the longest wait for a lock', { default: '10s', min: '1ms', as: 'lockMs' }),
  idle_in_transaction_timeout: duration('how long the server keeps a transaction whose process sends nothing', {
    default: '30s',
    min: '1ms',
    as: 'idleInTransactionMs',
  }),
};

export type PostgresSettings = ValuesOf<typeof postgresKeys>;

export const POSTGRES_DEFAULTS = readSection(postgresKeys, {}, 'postgres');
