import type { Clock } from '../clock.ts';
import type { Histogram } from '../metrics/histogram.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { readSampledTraceId } from '../trace/traceparent.ts';
import type { Sql } from './sql.ts';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export interface MeasuredSqlOptions {
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
    const end = (): void => {
      histogram.observe((clock.now() - startedAt) / 1000, readSampledTraceId(carrier));
    };
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
