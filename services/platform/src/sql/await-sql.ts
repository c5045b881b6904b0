import type { Clock } from '../clock.ts';
import type { CheckRegistry } from '../diagnosis/self-checks.ts';
import { describeServer, whenReachable } from '../lifecycle/when-reachable.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Histogram } from '../metrics/histogram.ts';
import { readSampledTraceId } from '../trace/traceparent.ts';
import { storeChecks } from './store-checks.ts';
import { openSql } from './open-sql.ts';
import type { SqlOptions } from './open-sql.ts';
import type { Sql } from './sql.ts';
import { StoreRefused, StoreUnavailable } from './sql.ts';
import { watchWrites } from './watch-writes.ts';

export interface SqlDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly checks?: CheckRegistry | undefined;
}

/** Opens the database of a service as soon as it can be used, and measures its statements. */
export async function awaitSql(options: SqlOptions, { clock, log, metrics, checks }: SqlDeps): Promise<Sql> {
  const { url, name } = options;
  const sql = await whenReachable(() => openNamed(options), {
    clock,
    log,
    dependency: url === undefined ? `the embedded store of ${name}` : describeServer('PostgreSQL', url.reveal()),
    isAway: (error) => error instanceof StoreUnavailable,
  });
  const watched = watchWrites(sql, clock);
  checks?.add(...storeChecks(watched, options, clock));
  return measureSql(watched.sql, metrics, { service: name, clock });
}

/** A refusal names the service, because a program has several stores. */
async function openNamed(options: SqlOptions): Promise<Sql> {
  try {
    return await openSql(options);
  } catch (error) {
    throw error instanceof StoreRefused ? new StoreRefused(`${options.name}: ${error.message}`) : error;
  }
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface MeasuredSqlOptions {
  readonly service: string;
  readonly clock: Clock;
}

/** The database with a measurement of each call, from the call to its result, and of its connections. */
export function measureSql(sql: Sql, metrics: Metrics, { service, clock }: MeasuredSqlOptions): Sql {
  const took = metrics.histogram(
    'reelgate_sql_seconds',
    'Time of a statement or a transaction, with its wait for a connection',
    SECONDS,
    ['service', 'what'],
  );
  const [reads, writes, transactions] = ['read', 'write', 'transaction'].map((what) => took.labels(service, what)) as [
    Histogram,
    Histogram,
    Histogram,
  ];
  const measure = <T>(histogram: Histogram, result: Promise<T>, carrier?: string): Promise<T> => {
    const startedAt = clock.now();
    const end = (): void => histogram.observe((clock.now() - startedAt) / 1000, readSampledTraceId(carrier));
    void result.then(end, end);
    return result;
  };
  watchPool(metrics, service, sql);
  return {
    ...sql,
    read: (text, values) => measure(reads, sql.read(text, values)),
    write: (text, values) => measure(writes, sql.write(text, values)),
    transaction: (work, carrier) => measure(transactions, sql.transaction(work), carrier),
    writeAll: (statements) => measure(transactions, sql.writeAll(statements)),
    changeAll: (statements) => measure(transactions, sql.changeAll(statements)),
    commitAhead: (work) => measure(transactions, sql.commitAhead(work)),
    commitUnsynced: (work) => measure(transactions, sql.commitUnsynced(work)),
  };
}

function watchPool(metrics: Metrics, service: string, sql: Sql): void {
  metrics.gauge(
    'reelgate_sql_pool',
    'Connections to a database that are in use or idle, and calls that wait for one',
    ['service', 'state'],
    (gauge) => {
      const { inUse, idle, waiting } = sql.pool();
      gauge.labels(service, 'in_use').set(inUse);
      gauge.labels(service, 'idle').set(idle);
      gauge.labels(service, 'waiting').set(waiting);
    },
  );
}
